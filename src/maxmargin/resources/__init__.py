"""What the computer offers: threads, memory, LAPACK; and names for the types of arrays."""
