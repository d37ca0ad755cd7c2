//! The table as a self-contained HTML page that sorts when a column title is clicked.

use crate::profile::html::escaped;
use std::fmt::Write;

const STYLE: &str = "\
body{font:14px/1.45 system-ui,sans-serif;margin:2em;color:#222;background:#fff}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
table{border-collapse:collapse;margin:.5em 0}
th,td{padding:.15em .6em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}
td{font-variant-numeric:tabular-nums}
th{cursor:pointer;position:sticky;top:0;background:#fff}
td.text,th.text{text-align:left}
td.bad{background:#fdd}
svg{display:block;background:#f7f7f7}svg text{font:11px system-ui,sans-serif;fill:#333}
";

/// Script that sorts a table by the clicked column, alternating between ascending and descending.
const SCRIPT: &str = "\
document.querySelectorAll('table.rows th').forEach((title,column)=>{let up=false;title.onclick=()=>{up=!up;\
const body=title.closest('table').tBodies[0];const key=row=>{const cell=row.cells[column];\
const number=parseFloat(cell.dataset.value);return isNaN(number)?cell.textContent:number};\
[...body.rows].sort((a,b)=>{const x=key(a),y=key(b);const order=x<y?-1:x>y?1:0;return up?order:-order})\
.forEach(row=>body.appendChild(row))}});
";

/// A table cell.
pub(super) struct Cell {
    /// Displayed text.
    pub(super) text: String,
    /// Sort key; `None` to sort by the text.
    pub(super) number: Option<f64>,
    /// True if it shows an error.
    pub(super) is_bad: bool,
}

/// A bar chart with named bars.
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) bars: Vec<(String, f64)>,
}

/// Formats the page.
pub(super) fn text(
    title: &str,
    facts: &[(String, String)],
    plots: &[Plot],
    titles: &[&str],
    rows: &[Vec<Cell>],
) -> String {
    let title = escaped(title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<table class=\"facts\">\n"
    );
    for (name, value) in facts {
        let (name, value) = (escaped(name), escaped(value));
        writeln!(
            page,
            "<tr><td class=\"text\">{name}</td><td class=\"text\">{value}</td></tr>"
        )
        .ok();
    }
    page.push_str("</table>\n");
    for plot in plots {
        bars(&mut page, plot);
    }
    page.push_str("<h2>Rows</h2>\n<p>A click on a title sorts.</p>\n<table class=\"rows\">\n<thead><tr>");
    for title in titles {
        write!(page, "<th>{}</th>", escaped(title)).ok();
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        for cell in row {
            let class = match (cell.is_bad, cell.number) {
                (true, _) => " class=\"bad\"",
                (_, None) => " class=\"text\"",
                _ => "",
            };
            let value = cell.number.map(|number| format!(" data-value=\"{number}\""));
            let value = value.unwrap_or_default();
            write!(page, "<td{class}{value}>{}</td>", escaped(&cell.text)).ok();
        }
        page.push_str("</tr>\n");
    }
    write!(
        page,
        "</tbody>\n</table>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
    .ok();
    page
}

/// Draws horizontal bars, the longest as wide as the plot.
fn bars(page: &mut String, plot: &Plot) {
    const LINE: f64 = 18.0;
    let most = plot.bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    let height = LINE * plot.bars.len() as f64 + 8.0;
    writeln!(
        page,
        "<h2>{}</h2>\n<svg width=\"900\" height=\"{height}\" role=\"img\" \
         xmlns=\"http://www.w3.org/2000/svg\">",
        escaped(&plot.title)
    )
    .ok();
    for (number, (name, value)) in plot.bars.iter().enumerate() {
        let y = 4.0 + LINE * number as f64;
        let width = 420.0 * value / most;
        writeln!(
            page,
            "<text x=\"392\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect x=\"400\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\" fill=\"#4477aa\"/>\
             <text x=\"{:.1}\" y=\"{}\">{value:.2}</text>",
            y + 13.0,
            escaped(name),
            LINE - 3.0,
            406.0 + width,
            y + 13.0
        )
        .ok();
    }
    page.push_str("</svg>\n");
}
