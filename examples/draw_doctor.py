"""Draw what the doctor shows of a drive whose clock is wrong by 0.4 s: docs/images/doctor.png."""

from egoequiv.doctor.changed import Case
from egoequiv.doctor.examine import examine
from egoequiv.doctor.faults import FAULTS
from egoequiv.report.figures.doctor import rates_figure
from egoequiv.sources.recording import Source
from egoequiv_worlds import drive


def late_drive(offset_s: float = 0.4) -> Source:
    """One drive of the embedded world; its motion was logged too late."""
    world = drive(seed=2, drives_per_area=1, seconds=30.0, width=248, height=76)
    case = Case(world.recordings[0], world.pose_columns)
    late = FAULTS["clock offset"](case, offset_s=offset_s)
    return Source(world.name, world.space, [late], pose_names=world.pose_columns)


if __name__ == "__main__":
    diagnosis = examine(late_drive())
    for fault in diagnosis.faults:
        print(f"{fault.check}: {fault.text}. {fault.fix}")
    figure = rates_figure(diagnosis.recordings[0])
    if figure is not None:
        figure.savefig("doctor.png", dpi=110)
        print("wrote doctor.png")
