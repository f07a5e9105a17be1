"""Random problems for every certified machine, each judged: `python -m fuzz 10000`.

A problem is drawn (`problem`), tried (`trial`), and if the library and the judge disagree made as
small as possible (`shrink`) and kept in `regressions.json`, which the tests run.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
REGRESSIONS = HERE / "regressions.json"
sys.path.insert(0, str(HERE.parent / "tests"))  # where the judge is
