"""Draw a sheet of the embedded drive: four areas, and a few frames of each as the car goes along."""

from PIL import Image

import egoequiv

world = egoequiv.open_source("drive", drives_per_area=1, seconds=16, color=True)
rows = [[recording.image(frame) for frame in (10, 60, 110, 150)] for recording in world.recordings]
height, width = rows[0][0].shape[:2]
sheet = Image.new("RGB", (4 * (width + 2), len(rows) * (height + 2)), "white")
for r, row in enumerate(rows):
    for c, image in enumerate(row):
        sheet.paste(Image.fromarray(image), (c * (width + 2), r * (height + 2)))
sheet.save("drive.png", optimize=True)
