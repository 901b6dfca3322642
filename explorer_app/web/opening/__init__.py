"""Opening another file or folder from the app, below the folders that the command line named."""
