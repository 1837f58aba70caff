"""Draw the axes of the conventions that logs use, seen from behind a camera: docs/images/axes.png."""

from matplotlib.figure import Figure

from egoequiv.pose import CONVENTIONS

# Where each direction is drawn on paper: the camera looks away from us, into the page, and a little to the right.
PAPER = {
    "forward": (0.62, 0.42),
    "backward": (-0.62, -0.42),
    "left": (-1.0, 0.12),
    "right": (1.0, -0.12),
    "up": (0.0, 1.0),
    "down": (0.0, -1.0),
}
COLORS = ("#d62728", "#2ca02c", "#1f77b4")
USED_BY = {
    "opencv": "OpenCV, COLMAP, TUM, 7-Scenes,\nROS optical frames",
    "opengl": "OpenGL, Blender, ARKit,\ninstant-ngp, nerfstudio",
    "ros": "ROS bodies, KITTI GPS/IMU;\nevery store of egoequiv",
    "ned": "aircraft, PX4",
}


def draw() -> Figure:
    """One panel for each convention: a camera, and where its x, y and z point."""
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    panels = figure.subplots(1, len(CONVENTIONS))
    for axes, (name, directions) in zip(panels, CONVENTIONS.items(), strict=True):
        corners = [(-0.32, -0.22), (0.32, -0.28), (0.32, 0.18), (-0.32, 0.24), (-0.32, -0.22)]
        axes.fill(*zip(*corners, strict=True), color="#dddddd", zorder=0)
        axes.plot(*zip(*corners, strict=True), color="#777777", zorder=0)
        for axis, direction, color in zip("xyz", directions, COLORS, strict=True):
            end = PAPER[direction]
            axes.annotate("", end, (0, 0), arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 2.2})
            place = (1.18 * end[0], 1.18 * end[1])
            axes.text(*place, f"{axis}\n{direction}", color=color, ha="center", va="center", fontsize=10)
        axes.set_title(f"axes={name}", fontsize=12, fontweight="bold")
        axes.text(0, -1.75, USED_BY[name], ha="center", va="center", fontsize=9)
        axes.set_xlim(-1.55, 1.55)
        axes.set_ylim(-2.05, 1.5)
        axes.set_aspect("equal")
        axes.axis("off")
    return figure


if __name__ == "__main__":
    draw().savefig("axes.png", dpi=110, bbox_inches="tight")
    print("written: axes.png")
