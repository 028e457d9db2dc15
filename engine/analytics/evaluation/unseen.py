"""The uncertainty of random draws that all say the same: their variance is 0, which is no certainty."""

CHANCE = 0.05  # that more is left open than these bounds say
ERRORS = 1.96  # standard errors of such a bound


def unseen_share(draws: int) -> float:
    """The largest share of things that all draws may have missed: with this one, they do so with a chance of 5 %.

    It is the upper bound of Clopper and Pearson, Biometrika 26(4), 1934, for none that was met, about 3 / draws ("rule
    of three": Hanley and Lippman-Hand, JAMA 249(13), 1983).
    """
    return float(1 - CHANCE ** (1 / draws))


def share_error(met: int, draws: int) -> float:
    """Standard error of a share of which ``draws`` have ``met`` some, never 0.

    It counts two draws of each kind more than there were (Agresti and Coull, The American Statistician 52(2), 1998).
    """
    part = (met + 2) / (draws + 4)
    return float((part * (1 - part) / (draws + 4)) ** 0.5)
