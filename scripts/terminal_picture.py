"""Draws screens of a terminal as an animated picture. `record-demo` and `record-tui` use it.

A screen is a list of lines, a line a sequence of (character, style). A style is a tuple of SGR codes; a color of the 256 is
`("fg", 80)`. The picture needs no script and no font from elsewhere; where nothing moves, it shows the last screen.
"""

from html import escape

# How long the last screen stays before the picture begins again.
HOLD_SECONDS = 8.0
CHARACTER, LINE, MARGIN, BAR = 8.43, 18, 14, 30
BACKGROUND, FOREGROUND = "#0d1117", "#e6edf3"
COLOURS = {
    30: "#6e7681", 31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd",
    37: "#e6edf3", 90: "#8b949e",
}


def indexed(number):
    """A color of the cube or of the grays above it."""
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return f"#{level:02x}{level:02x}{level:02x}"
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#" + "".join(f"{levels[part]:02x}" for part in (number // 36, number // 6 % 6, number % 6))


def class_of(code):
    """The name of a style's class, and what it looks like."""
    if isinstance(code, tuple):
        return f"c{code[1]}", f"fill:{indexed(code[1])}"
    if code in COLOURS:
        return f"s{code}", f"fill:{COLOURS[code]}"
    looks = {1: "font-weight:600", 2: "fill:#8b949e", 4: "text-decoration:underline", 7: f"fill:{BACKGROUND}"}
    return (f"s{code}", looks[code]) if code in looks else None


def spans(line):
    """The line as text of the picture."""
    parts, start = [], 0
    while line and line[-1] == (" ", ()):
        line = line[:-1]
    while start < len(line):
        style = line[start][1]
        end = start
        while end < len(line) and line[end][1] == style:
            end += 1
        text = escape("".join(character for character, _ in line[start:end]), quote=False)
        classes = " ".join(sorted(known[0] for known in map(class_of, set(style)) if known))
        parts.append(f'<tspan class="{classes}">{text}</tspan>' if classes else text)
        start = end
    return "".join(parts)


def reversed_parts(line):
    """Where the line has its colors swapped, as (column, length)."""
    parts = []
    for column, (_, style) in enumerate(line):
        if 7 not in style:
            continue
        if parts and sum(parts[-1]) == column:
            parts[-1] = (parts[-1][0], parts[-1][1] + 1)
        else:
            parts.append((column, 1))
    return parts


def draw(shown, columns, rows, label):
    """`shown` has the screen at each moment at which it changed."""
    last = shown[-1][0]
    length = last + HOLD_SECONDS
    height = BAR + rows * LINE + MARGIN
    width = round(columns * CHARACTER + 2 * MARGIN)

    def share(moment):
        return f"{moment / length:.4f}".rstrip("0").rstrip(".") or "0"

    # Each line as often as it looked different, with the time in which it did.
    versions, current = [], {}
    for moment, lines in shown:
        for number in range(max(len(lines), len(current))):
            line = lines[number] if number < len(lines) else ()
            text = (spans(line), tuple(reversed_parts(line))) if line else ("", ())
            known = current.get(number)
            if known is None or known[0] != text:
                if known is not None and known[0] != ("", ()):
                    versions.append((number, known[0], known[1], moment))
                current[number] = (text, moment)
    versions += [(number, text, begun, None) for number, (text, begun) in current.items() if text != ("", ())]
    body = []
    for number, (text, swapped), begun, ended in sorted(versions, key=lambda version: (version[2], version[0])):
        y = BAR + (number + 1) * LINE - 4
        times = [(0, 0), (begun, 1)] if begun > 0 else [(0, 1)]
        times += [] if ended is None else [(ended, 0)]
        hidden = "" if ended is None else ' opacity="0"'
        move = ""
        if len(times) > 1:
            values = ";".join(str(value) for _, value in times)
            keys = ";".join(share(moment) for moment, _ in times)
            move = f'<animate attributeName="opacity" values="{values}" keyTimes="{keys}" {{clock}}/>'
        shown_text = f'<text x="{MARGIN}" y="{y}"{"" if swapped else hidden}>{text}{"" if swapped else move}</text>'
        boxes = "".join(
            f'<rect x="{MARGIN + column * CHARACTER:.1f}" y="{y - 14}" width="{length * CHARACTER:.1f}" height="{LINE}" fill="{FOREGROUND}"/>'
            for column, length in swapped
        )
        body.append(f"<g{hidden}>{boxes}{shown_text}{move}</g>" if swapped else shown_text)
    # The lines scroll as in a terminal: the newest is the last.
    scrolls = []
    for moment, lines in shown:
        top = -LINE * max(0, len(lines) - rows)
        if not scrolls or scrolls[-1][1] != top:
            scrolls.append((moment if scrolls else 0, top))
    scroll = ""
    if len(scrolls) > 1:
        values = ";".join(f"0 {top}" for _, top in scrolls)
        keys = ";".join(share(moment) for moment, _ in scrolls)
        scroll = f'<animateTransform attributeName="transform" type="translate" values="{values}" keyTimes="{keys}" {{clock}}/>'
    clock = f'dur="{length:g}s" calcMode="discrete" repeatCount="indefinite"'
    codes = {code for _, lines in shown for line in lines for _, style in line for code in style}
    looks = sorted(known for known in map(class_of, codes) if known)
    styles = "".join(f".{name}{{{look}}}" for name, look in looks)
    dots = "".join(
        f'<circle cx="{MARGIN + 6 + 18 * index}" cy="15" r="5" fill="{colour}"/>'
        for index, colour in enumerate(["#ff5f57", "#febc2e", "#28c840"])
    )
    moving = "\n".join(body).replace("{clock}", clock)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">
<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:{FOREGROUND}}}{styles}</style>
<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>{dots}
<svg y="{BAR}" width="{width}" height="{rows * LINE + 4}" viewBox="0 {BAR} {width} {rows * LINE + 4}"><g transform="translate(0 {scrolls[-1][1]})">{scroll.replace("{clock}", clock)}
{moving}
</g></svg></svg>
"""
