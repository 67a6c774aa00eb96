"""How much a file may hold. A study has hundreds of people: these are far off, and keep memory small all the same."""

MAX_FILES = 50  # brought in together
MAX_FILE_BYTES = 32 * 1024**2
MAX_UNPACKED_BYTES = 64 * 1024**2  # of all members of a zip file together
MAX_MEMBERS = 2_000  # of a zip file; an ODK export may carry photos, which are never unpacked
MAX_RATIO = 200  # CSV and XML shrink 5 to 30 times; a bomb 1000 times
FREE_BYTES = 1024**2  # up to this size any ratio is fine

MAX_ROWS = 50_000  # of one table
MAX_COLUMNS = 1_000
MAX_CELLS = 1_000_000  # of all tables together
MAX_CELL = 32_767  # characters, as in Excel
MAX_NAME = 10_000
MAX_CODE = 200

MAX_PROBLEMS = 100  # told in full; the others are only counted
SAMPLE_ROWS = 5  # shown in a preview
