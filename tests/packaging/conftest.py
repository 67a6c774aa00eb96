import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))  # launcher.py, icon.py and bundle.py are scripts
