"""The motion of the camera as its pictures show it."""
