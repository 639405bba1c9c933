"""Reference numerics: what a quantized operation must come to.

The repository root is the package, so with that folder on `sys.path` a plain `import kernels` would find this
one instead of the Hugging Face distribution `kernels`, which transformers and the engines import. Under that
name it refuses with ImportError, which those libraries take as "not installed".
"""

if __name__ == "kernels":
    raise ImportError(
        "this is qtrace.kernels, not the distribution 'kernels': import qtrace.kernels, or run Python from "
        "another folder (or with -P) so that the qtrace checkout is not on sys.path",
        name=__name__,
    )
