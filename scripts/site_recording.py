"""A recording of a terminal for the home page: the commands and outputs of the quickstart, which a test compares with
what the commands print.
"""

import re
from html import escape
from pathlib import Path
from textwrap import wrap

PAGE = Path(__file__).parents[1] / "docs" / "quickstart.md"
COLUMNS, WIDTH, LINE = 66, 480, 17
STEP, TYPED, REST = 0.35, 0.9, 4.0  # seconds for a line, for a command, and at the end before it begins anew
STYLE = """
text { font: 11.5px ui-monospace, monospace; fill: #d8dee4; white-space: pre; }
.command { fill: #7ee2b8; font-weight: bold; }
.line { animation: LOOPs steps(1) infinite; }
@media (prefers-reduced-motion: reduce) { .line { animation: none !important; } }
"""


def session() -> list[tuple[str, bool]]:
    """The lines of the recording, as narrow as a small terminal has them, each with whether it is a command."""
    lines = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL):
        for line in block.splitlines():
            if line.startswith(("Next:", "--verbose")):
                continue
            parts = wrap(line, COLUMNS, subsequent_indent="    ", break_on_hyphens=False) or [""]
            lines += [(part, line.startswith("$ ")) for part in parts]
    return lines


def recording() -> str:
    """The lines, which appear one after the other; all stay where the reader wants no motion."""
    lines = session()
    times, now = [], 0.0
    for text, is_command in lines:
        times.append(now)
        now += TYPED if is_command and text.startswith("$ ") else STEP
    loop = now + REST
    height = LINE * len(lines) + 24
    said = "A terminal: csaw partition makes a graph store, csaw sample draws walks, csaw verify tests them"
    parts = []
    frames = []
    for k, ((text, is_command), start) in enumerate(zip(lines, times, strict=True)):
        share = 100 * start / loop
        frames.append(
            f"@keyframes l{k} {{ 0% {{ opacity: 0; }} {share:.2f}% {{ opacity: 1; }} 100% {{ opacity: 1; }} }}"
        )
        kind = "line command" if is_command else "line"
        place = f'x="12" y="{LINE * (k + 1) + 8}" style="animation-name: l{k}"'
        parts.append(f'<text class="{kind}" {place} xml:space="preserve">{escape(text)}</text>')
    style = STYLE.replace("LOOP", f"{loop:.1f}") + "\n".join(frames)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{said}">'
    back = f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#1f2933"/>'
    return "\n".join([head, f"<title>{said}</title><style>{style}</style>", back, *parts, "</svg>\n"])


def recordings() -> dict[str, str]:
    """All recordings by name."""
    return {"terminal": recording()}
