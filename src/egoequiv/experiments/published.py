"""The numbers the paper published, shown beside what is measured here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A published mean, with its standard error where the paper gives one."""

    mean: float
    stderr: float | None = None


Metrics = dict[str, Published]
Key = tuple[str, bool]  # method, trained with labels


def _rho(atomic: float, composite: float, *motions: float) -> Metrics:
    names = ("rho_up", "rho_right", "rho_up+right", "rho_up+left", "rho_down+right")
    values = {name: Published(value) for name, value in zip(names, motions, strict=False)}
    return {"rho_atomic": Published(atomic), "rho_composite": Published(composite), **values}


def _views(one: float, two: float) -> Metrics:
    return {"one_view": Published(one), "two_views": Published(two)}


NORB_NAME = "small NORB"  # as tables call what the numbers below were measured on

# Table 1 (left, centre and, for the next view, right) and the supplement's table of single motions.
NORB: dict[Key, Metrics] = {
    ("random", True): {
        "top1": Published(4.00),
        **_rho(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        **_views(4.00, 4.00),
    },
    ("clsnet", True): {
        "top1": Published(25.11, 0.72),
        **_rho(0.9239, 0.9145, 0.9276, 0.9202, 0.9222, 0.9138, 0.9074),
    },
    ("temporal", True): {
        "top1": Published(35.47, 0.51),
        **_rho(0.7587, 0.8119, 0.7140, 0.8033, 0.8089, 0.8061, 0.8207),
        **_views(29.60, 31.90),
    },
    ("drlim", True): {
        "top1": Published(36.60, 0.41),
        **_rho(0.6404, 0.7263, 0.5770, 0.7038, 0.7281, 0.7182, 0.7325),
        **_views(14.89, 17.95),
    },
    ("equiv", True): {
        "top1": Published(38.48, 0.89),
        **_rho(0.6082, 0.6982, 0.5328, 0.6836, 0.6913, 0.6914, 0.7120),
        **_views(38.52, 43.86),
    },
    ("equiv+drlim", True): {
        "top1": Published(40.78, 0.60),
        **_rho(0.5814, 0.6492, 0.5293, 0.6335, 0.6450, 0.6460, 0.6565),
        **_views(38.46, 43.18),
    },
    ("equiv", False): _rho(0.0304, 0.0394),
    ("drlim", False): _rho(0.3751, 0.4532),
}

# Table 1 (centre): four classes of places from 4 labelled frames each.
KITTI: dict[Key, Metrics] = {
    ("random", True): {"top1": Published(25.00)},
    ("clsnet", True): {"top1": Published(41.81, 0.38)},
    ("temporal", True): {"top1": Published(45.12, 1.21)},
    ("drlim", True): {"top1": Published(47.04, 0.50)},
    ("equiv", True): {"top1": Published(50.64, 0.88)},
    ("equiv+drlim", True): {"top1": Published(50.84, 0.43)},
}

# Table 1 (right): 397 classes of scenes from 6 labelled images each, and from 20 in the text.
SUN: dict[int, dict[Key, Metrics]] = {
    6: {
        ("nearest pixels", True): {"top1": Published(0.61)},
        ("random", True): {"top1": Published(0.25), "top10": Published(2.52)},
        ("clsnet", True): {"top1": Published(0.70, 0.12), "top10": Published(6.10, 0.67)},
        ("temporal", True): {"top1": Published(1.21, 0.14), "top10": Published(8.24, 0.25)},
        ("drlim", True): {"top1": Published(1.02, 0.12), "top10": Published(6.78, 0.32)},
        ("equiv", True): {"top1": Published(1.31, 0.07), "top10": Published(8.59, 0.16)},
        ("equiv+drlim", True): {"top1": Published(1.58, 0.17), "top10": Published(9.57, 0.32)},
    },
    20: {
        ("clsnet", True): {"top1": Published(1.66, 0.18)},
        ("equiv", True): {"top1": Published(3.66, 0.08)},
    },
}
