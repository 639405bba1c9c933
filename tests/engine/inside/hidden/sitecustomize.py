"""Makes a CPU answer as one without some features: for recordings of machines that are not at hand.

Only what the engine asks of torch changes; `QTRACE_HIDE` names the questions, as in `_is_amx_tile_supported`.
"""

import os

if hidden := os.environ.get("QTRACE_HIDE"):
    import torch

    for question in hidden.split(","):
        assert hasattr(torch.cpu, question), question
        setattr(torch.cpu, question, lambda: False)
