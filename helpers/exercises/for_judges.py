"""All that a judge.py is written in: `from helpers.exercises.for_judges import *`."""

from . import distant, extra_checks, fragments, judges, launches, patterns, products, seen, values
from .costs import FACTORS
from .distant import *  # noqa: F403
from .extra_checks import *  # noqa: F403
from .fragments import *  # noqa: F403
from .judges import *  # noqa: F403
from .launches import *  # noqa: F403
from .patterns import *  # noqa: F403
from .products import *  # noqa: F403
from .seen import *  # noqa: F403
from .values import *  # noqa: F403

__all__ = ["FACTORS"]
__all__ += distant.__all__ + extra_checks.__all__ + fragments.__all__ + judges.__all__
__all__ += launches.__all__ + patterns.__all__ + products.__all__ + seen.__all__ + values.__all__
