"""The documents' figures and numbers, made again by this library: `maxmargin reproduce`."""
