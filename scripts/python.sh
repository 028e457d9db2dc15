# Sourced: PYTHON becomes an interpreter of a supported version.
for candidate in "${PYTHON:-}" python3.13 python3.12 python3.11 python3.14 python3; do
  [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null && break
  candidate=""
done
[ -n "$candidate" ] || { echo "csaw needs Python 3.11 to 3.14; none was found on PATH" >&2; exit 1; }
PYTHON="$candidate"
