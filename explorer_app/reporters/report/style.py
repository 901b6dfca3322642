"""The look of the report."""

from __future__ import annotations

from typing import Final

from explorer_app.web.theme import static_css

_RULES: Final = """
*{box-sizing:border-box}
body{margin:0;background:var(--np-bg);color:var(--np-text);font:13px/1.5 var(--np-font);
font-variant-numeric:tabular-nums}
header,main,footer{max-width:1120px;margin:0 auto;padding:0 20px}
header{padding-top:24px}
h1{font-size:22px;line-height:1.3;margin:0;overflow-wrap:anywhere}
h2{font-size:15px;margin:0 0 12px}
h3{font-size:13px;margin:16px 0 6px}
header .lead{margin:4px 0 16px;color:var(--np-dim)}
.bound{font-size:15px;font-weight:600}
.note{font-weight:400;font-size:12px;color:var(--np-dim);margin-left:10px}
.dim,footer{color:var(--np-dim)}
footer{padding-bottom:32px;font-size:12px}
section,.banner{background:var(--np-panel);border:1px solid var(--np-line);border-radius:6px;padding:16px;
margin:0 0 16px}
p{margin:0 0 8px;max-width:80em}
section p:last-child{margin-bottom:0}
.banner{background:var(--np-warn-bg);color:var(--np-warn);padding:10px 16px;margin-bottom:16px;max-width:none}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:12px}
th{font-weight:600;color:var(--np-dim);text-align:left;border-bottom:1px solid var(--np-line);white-space:nowrap}
th,td{padding:4px 16px 4px 0;vertical-align:top}
td{border-bottom:1px solid var(--np-grid)}
tbody tr:last-child td{border-bottom:0}
th:last-child,td:last-child{padding-right:0}
td.name{overflow-wrap:anywhere;font-family:var(--np-mono);width:40%}
td.name .mark{font-family:inherit}
code{font-family:var(--np-mono)}
.number{text-align:right;white-space:nowrap}
td.text{white-space:nowrap}
td.bar,th.bar{width:180px;white-space:nowrap}
.share{display:inline-flex;align-items:center;gap:8px}
.track{display:inline-block;width:100px;height:8px;border-radius:2px;background:var(--np-grid);overflow:hidden}
.track i{display:block;height:100%}
.mark i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:7px;vertical-align:-1px}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 8px;font-size:12px}
.stacked{display:flex;height:26px;border-radius:4px;overflow:hidden;margin:0 0 12px}
.stacked span{min-width:1px}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:2px 20px;margin:0}
.facts dt{color:var(--np-dim)}
.facts dd{margin:0;overflow-wrap:anywhere}
ol.findings{margin:0;padding-left:22px}
ol.findings li{margin:0 0 14px}
ol.findings li:last-child{margin-bottom:0}
ol.findings b{font-size:14px}
.findings p,.findings ul{margin:2px 0 0;padding-left:0;list-style:none}
.sim{color:var(--np-warn);font-weight:600}
svg{display:block;width:100%;height:auto;font-family:var(--np-font);font-size:11px}
svg text{fill:var(--np-dim)}
.grid{stroke:var(--np-grid);fill:none}
.axis{stroke:var(--np-line);fill:none}
.dot circle{fill-opacity:.75;stroke:var(--np-panel)}
svg .on{fill:var(--np-on-cat);font-size:10px}
svg .lane{fill:var(--np-text)}
svg .head{fill:var(--np-dim);font-weight:600}
details{margin-top:12px}
summary{cursor:pointer;color:var(--np-dim)}
pre{font:11px/1.5 var(--np-mono);white-space:pre-wrap;overflow-wrap:anywhere;margin:8px 0 0}
@media print{body{background:none;font-size:11px}section{break-inside:avoid-page;border:0;padding:0}
header,main,footer{padding:0}.wide{overflow:visible}table{font-size:9px}th,td{padding-right:8px}td.name{width:auto}
td.bar,th.bar{width:auto}.track{width:50px}details{display:none}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
@page{size:A4;margin:12mm}
"""


def style() -> str:
    """The style sheet: every colour from the theme, light on paper."""
    return static_css() + _RULES
