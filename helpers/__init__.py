"""The course's helpers. In a notebook, importing them makes cells of CUDA possible: %%kernel."""

import sys

if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()):
    from . import magic

    magic.register(_shell)
