"""The colours and the style of all plots."""

COLOURS = ("#2a6f97", "#d1495b", "#5b8e7d", "#e09f3e", "#7d5a94", "#3d5a80")
INK, GREY, PALE = "#30475e", "#8d99ae", "#a9bccf"
STYLE = {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left",
    "text.parse_math": False, "text.usetex": False,  # names are text, also with a $ in them
}  # fmt: skip
