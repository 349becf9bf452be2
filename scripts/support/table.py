"""Tables as the scripts print them."""


def table(header, rows):
    """Columns as wide as they must be; the first to the left, the others to the right."""
    rows = [header, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
             for row in rows]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join("  " + line.rstrip() for line in [lines[0], rule, *lines[1:]])
