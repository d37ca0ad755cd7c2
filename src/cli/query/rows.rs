//! Files of queries: a line with the column names, then a line per query.

use crate::{Error, Result, accel::COORDINATE_LIMIT, output::numbers};
use std::{fs::File, io::Read, path::Path};

/// Maximum size of a query file in bytes.
const MAX_BYTES: u64 = 1 << 30;

fn invalid(path: &Path, what: impl Into<String>) -> Error {
    Error::Scene {
        path: path.to_owned(),
        what: what.into(),
    }
}

/// Reads the rows of a file whose first line has these `names`. `check` returns the problem of an invalid
/// row.
///
/// # Errors
///
/// [`Error::Scene`] for an invalid row, [`Error::Limit`] for a file of more than a gibibyte, [`Error::Io`].
pub(super) fn rows<const N: usize>(
    path: &Path,
    names: [&str; N],
    check: impl Fn(&[f32; N]) -> Result<(), &'static str>,
) -> Result<Vec<[f32; N]>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut text)
        .map_err(|e| Error::io(path, e))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(Error::Limit {
            what: path.display().to_string(),
            needed: "more".into(),
            allowed: numbers::bytes(MAX_BYTES),
            by: "what questions may take".into(),
        });
    }
    let text = String::from_utf8(text).map_err(|_| invalid(path, "not UTF-8 text"))?;
    parse(&text, names, check).map_err(|what| invalid(path, what))
}

fn parse<const N: usize>(
    text: &str,
    names: [&str; N],
    check: impl Fn(&[f32; N]) -> Result<(), &'static str>,
) -> Result<Vec<[f32; N]>, String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let header = lines.next().unwrap_or("").split(',').map(str::trim);
    if !header.eq(names) {
        return Err(format!("the first line must be {}", names.join(",")));
    }
    let mut rows = Vec::new();
    for (line, number) in lines.zip(2..) {
        if line.trim().is_empty() {
            continue;
        }
        let mut row = [0.0; N];
        let mut fields = line.split(',');
        for (value, name) in row.iter_mut().zip(names) {
            let field = fields.next().map(str::trim);
            let field = field.ok_or_else(|| format!("line {number}: {name} is missing"))?;
            let parsed = field.parse().ok().filter(|value: &f32| value.is_finite());
            *value = parsed.ok_or_else(|| format!("line {number}: {name}: {field:?} is not a number"))?;
            if value.abs() >= COORDINATE_LIMIT {
                return Err(format!(
                    "line {number}: {name} is {field}; expected a number within ±{COORDINATE_LIMIT:e}"
                ));
            }
        }
        if fields.next().is_some() {
            return Err(format!("line {number}: expected {N} numbers, found more"));
        }
        check(&row).map_err(|wrong| format!("line {number}: {wrong}"))?;
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_rows_are_parsed_or_report_the_fault() {
        let read = |text: &str| {
            parse(text, ["x", "y", "z"], |row| {
                let is_right = row[0] >= 0.0;
                is_right.then_some(()).ok_or("a negative x")
            })
        };
        assert_eq!(
            read("x,y,z\n1,2.5,-3e2\r\n\n 4 , 5,6").unwrap(),
            [[1.0, 2.5, -300.0], [4.0, 5.0, 6.0]]
        );
        assert_eq!(read("\u{feff}x, y ,z\n").unwrap(), [[0.0; 3]; 0]);
        for (text, wrong) in [
            ("", "the first line must be x,y,z"),
            ("a,b,c\n", "the first line must be x,y,z"),
            ("x,y,z\n1,2\n", "line 2: z is missing"),
            ("x,y,z\n1,2,3\n1,two,3", "line 3: y: \"two\" is not a number"),
            ("x,y,z\n1,nan,3", "line 2: y: \"nan\" is not a number"),
            ("x,y,z\n1,2,1e99", "line 2: z: \"1e99\" is not a number"),
            ("x,y,z\n1,2,3,4", "line 2: expected 3 numbers, found more"),
            (
                "x,y,z\n1,2,-2e15",
                "line 2: z is -2e15; expected a number within ±1.1258999e15",
            ),
            ("x,y,z\n\n1,2,3\n\n-1,2,3", "line 5: a negative x"),
        ] {
            assert_eq!(read(text).unwrap_err(), wrong);
        }
    }
}
