"""The GPU kernels that an engine writes in Python: what they are called, and who launches them."""
