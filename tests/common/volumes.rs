//! Volumes written by other libraries, and the values that these libraries read. `volumes/make.py` documents
//! their creation.

/// A file's name and bytes.
pub(crate) type Named = (&'static str, &'static [u8]);

macro_rules! named {
    ($($name:literal)*) => {
        &[$(($name, include_bytes!(concat!("volumes/", $name)))),*]
    };
}

/// By OpenVDB and NanoVDB 10.0.1.
pub(crate) const SPARSE: &[Named] = named! {
    "blosc.vdb" "half.vdb" "zip.vdb"
    "blosc.nvdb" "zip.nvdb" "fp4.nvdb" "fp8.nvdb" "fp16.nvdb" "fpN.nvdb"
};

/// By nibabel 5.4.2.
pub(crate) const NIFTI: &[Named] = named! {
    "sform.nii.gz" "qform-big.nii" "second.nii" "times.nii.gz" "color.nii"
};

/// By pynrrd 1.1.3.
pub(crate) const NRRD: &[Named] = named! {
    "gzip.nrrd" "big.nrrd" "text.nrrd" "double.nhdr" "vectors.nrrd"
};

/// The numbers of `double.nhdr`.
pub(crate) const BESIDE: Named = ("double.raw", include_bytes!("volumes/double.raw"));

/// The file with this name.
pub(crate) fn file(name: &str) -> &'static [u8] {
    let mut all = [SPARSE, NIFTI, NRRD].into_iter().flatten();
    let found = all.find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no {name}")).1
}
