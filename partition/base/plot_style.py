"""The look of plots: Okabe and Ito's colors, which color-blind readers tell apart, without a background.

An SVG has the light colors; a style sheet in it replaces them where the reader's setting is dark.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import RcKeyType

INK, MUTED, GRID = "#222222", "#5f5f5f", "#d9d9d9"
CSAW, PEER, LIMIT = "#0072b2", "#e69f00", "#d55e00"
DARK = {INK: "#e2e2e2", MUTED: "#ababab", GRID: "#474747", CSAW: "#56b4e9", PEER: "#f0b429", LIMIT: "#ff8438"}
TEXT, SMALL, TITLE = 8.5, 7.5, 11.0  # points
RC: "dict[RcKeyType, object]" = {
    "svg.hashsalt": "csaw",
    "svg.fonttype": "none",
    "font.size": TEXT,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}
BASE = "*{stroke-linejoin: round; stroke-linecap: butt}"  # the style sheet of every SVG of Matplotlib
FONTS = (
    "'DejaVu Sans', 'Bitstream Vera Sans', 'Computer Modern Sans Serif', 'Lucida Grande', 'Verdana', 'Geneva', "
    "'Lucid', 'Arial', 'Helvetica', 'Avant Garde', sans-serif"
)


def following_the_reader(svg: str) -> str:
    """The SVG with the fonts of the reader's system, and the dark colors where its setting is dark."""
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}: {dark} !important}}'
        for light, dark in DARK.items()
        for kind in ("fill", "stroke")
    )
    return svg.replace(BASE, f"{BASE}@media (prefers-color-scheme: dark){{{rules}}}", 1).replace(
        FONTS, "system-ui, sans-serif"
    )


def bare(axis: "Axes") -> None:
    """Leave out the frame and the marks of ticks."""
    axis.tick_params(which="both", length=0, labelsize=SMALL)
    for side in ("left", "right", "top"):
        axis.spines[side].set_visible(False)
