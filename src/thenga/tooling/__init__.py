"""Tools of the developer: servers, generated documents and recording. The product runs without."""
