"""What the computer offers: compiled code, vector registers, cores, memory."""
