"""Which kernel does a quantization flag really reach?"""

__version__ = "0.1.0"
