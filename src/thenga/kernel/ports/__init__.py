"""Questions one domain asks another: declared once, answered in process or over the wire."""
