"""From an operator's host function to what the GPU runs: what csrc calls and launches, on what condition."""
