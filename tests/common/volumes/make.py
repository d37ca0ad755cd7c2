"""Writes the volumes of this folder with the libraries of others, and what these libraries read of them.

    python3 make.py vdb     pyopenvdb 10.0.1, and vdb_tool and nanovdb_convert of the same version in PATH
    python3 make.py scans   nibabel 5.4.2 and pynrrd 1.1.3

Values are in the order of canopy: x fastest, z slowest, the numbers of a voxel together. Positions are those
of the first voxel and of its neighbours along x, y and z, in the space of the file.
"""

import gzip, json, os, subprocess, sys


def keep(truth, part):
    text = json.dumps(truth, separators=(",", ":")).encode()
    with open(f"{part}.json.gz", "wb") as out:
        out.write(gzip.compress(text, mtime=0))


def vdb():
    import pyopenvdb as vdb

    surface = vdb.createLevelSetSphere(radius=2.0, voxelSize=0.5, halfWidth=2.0, center=(4, 3, 4))
    surface.name = "surface"
    density = vdb.FloatGrid(0.0)
    density.name = "density"
    density.gridClass = vdb.GridClass.FOG_VOLUME
    density.transform = vdb.createLinearTransform(
        [[0.25, 0, 0, 0], [0, 0.5, 0, 0], [0, 0.125, 1, 0], [-1, 2, 0.5, 1]]
    )
    density.fill((-8, -8, -8), (-1, -1, -1), 0.75)
    density.prune()
    voxels = density.getAccessor()
    for i in range(40):
        at = (i % 3 - 9, i * 5 % 4 - 10, i * 3 % 5 - 9)
        voxels.setValueOn(at, 0.5 + 0.03125 * i)
    color = vdb.Vec3SGrid((0, 0, 0))
    color.name = "Cd"
    voxels = color.getAccessor()
    for i in range(20):
        voxels.setValueOn((i % 3, i % 5, i % 4), (0.125 * i, 1 - 0.0625 * i, 0.5))
    color.transform = vdb.createLinearTransform(0.25)
    half = density.deepCopy()
    half.saveFloatAsHalf = True
    vdb.write("blosc.vdb", grids=[surface, density, color])
    vdb.write("half.vdb", grids=[half])
    vdb.write("density.tmp.vdb", grids=[density])
    vdb.write("color.tmp.vdb", grids=[color])

    def run(*command):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    run("vdb_tool", "-read", "density.tmp.vdb", "-write", "zip.vdb", "codec=zip")
    for kind in ["fp4", "fp8", "fp16", "fpN"]:
        run("nanovdb_convert", "-f", "-z", f"--{kind}", "density.tmp.vdb", f"{kind}.nvdb")
    run("nanovdb_convert", "-f", "-z", "density.tmp.vdb", "zip.nvdb")
    run("nanovdb_convert", "-f", "-b", "blosc.vdb", "blosc.nvdb")

    truth = {}
    for name in sorted(os.listdir(".")):
        if not name.endswith("vdb") or ".tmp." in name:
            continue
        path = name
        if name.endswith(".nvdb"):
            # NanoVDB's own reader, back to OpenVDB.
            path = "read.tmp.vdb"
            run("nanovdb_convert", "-f", name, path)
        truth[name] = {}
        for grid in vdb.readAllGridMetadata(path):
            grid = vdb.read(path, grid.name)
            least, most = grid.evalActiveVoxelBoundingBox()
            voxels = grid.getConstAccessor()
            axes = [range(a, b + 1) for a, b in zip(least, most)]
            values = [
                voxels.getValue((x, y, z)) for z in axes[2] for y in axes[1] for x in axes[0]
            ]
            if isinstance(values[0], tuple):
                values = [number for value in values for number in value]
            # Converting back transposes sheared matrices. The boxes in the files are those of the grid itself.
            world = vdb.read("blosc.vdb", grid.name).transform.indexToWorld
            x, y, z = least
            truth[name][grid.name] = {
                "size": [len(axis) for axis in axes],
                "background": grid.background if isinstance(grid.background, float) else 0.0,
                "positions": [
                    world(least), world((x + 1, y, z)), world((x, y + 1, z)), world((x, y, z + 1))
                ],
                "values": values,
            }
    for name in os.listdir("."):
        if ".tmp." in name:
            os.remove(name)
    keep(truth, "vdb")


def scans():
    import nibabel, nrrd, numpy

    truth = {}
    numbers = numpy.arange(5 * 4 * 3).reshape((5, 4, 3), order="F")
    numbers = (numbers * 37 % 101 - 20).astype(numpy.int16)
    affine = numpy.array(
        [[-2, 0.25, 0, 10], [0.125, 1.5, 0, -20], [0, -0.25, 3, 5], [0, 0, 0, 1]], dtype=float
    )

    def told(name, read, size, affine):
        corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        truth[name] = {
            "size": size,
            "positions": [(affine @ [*corner, 1])[:3].tolist() for corner in corners],
            "values": read.astype(float).flatten(order="F").tolist(),
        }

    def nifti(name, image):
        nibabel.save(image, name)
        image = nibabel.load(name)
        read = numpy.asanyarray(image.dataobj)
        if read.dtype.names:
            channels = [read[channel].astype(float) / 255 for channel in "RGB"]
            read = numpy.stack(channels, axis=0)
            told(name, read, list(read.shape[1:4]), image.affine)
        else:
            read = read[..., 0] if read.ndim == 4 else read
            told(name, read, list(read.shape), image.affine)

    image = nibabel.Nifti1Image(numbers, affine)
    image.header.set_xyzt_units("mm")
    image.header.set_slope_inter(0.5, -3)
    nifti("sform.nii.gz", image)
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype(numpy.float32)
    image = nibabel.Nifti1Image(numbers.astype(numpy.float32), None, header)
    turned = numpy.array([[0, -2, 0, 3], [1.5, 0, 0, 4], [0, 0, -3, 5], [0, 0, 0, 1]], dtype=float)
    image.set_qform(turned, code=1)
    image.set_sform(None, code=0)
    nifti("qform-big.nii", image)
    image = nibabel.Nifti2Image(numbers.astype(numpy.float64) / 7, affine)
    nifti("second.nii", image)
    times = numpy.stack([numbers, numbers + 1], axis=3).astype(numpy.uint8)
    nifti("times.nii.gz", nibabel.Nifti1Image(times, affine))
    color = numpy.zeros((3, 2, 2), dtype=[("R", "u1"), ("G", "u1"), ("B", "u1")])
    for place, channel in enumerate("RGB"):
        color[channel] = (numpy.arange(12).reshape((3, 2, 2)) * 20 + place).astype(numpy.uint8)
    nifti("color.nii", nibabel.Nifti1Image(color, affine))

    lps = {
        "space": "left-posterior-superior",
        "space directions": affine[:3, :3].T.tolist(),
        "space origin": affine[:3, 3].tolist(),
    }

    def scan(name, data, header, **options):
        nrrd.write(name, data, header, **options)
        read, header = nrrd.read(name)
        place = numpy.eye(4)
        if "space directions" in header:
            rows = header["space directions"]
            place[:3, :3] = rows[~numpy.isnan(rows).any(axis=1)].T
            place[:3, 3] = header["space origin"]
        elif "spacings" in header:
            place[:3, :3] = numpy.diag(header["spacings"])
        told(name, read, list(read.shape[-3:]), place)

    scan("gzip.nrrd", numbers, {**lps, "encoding": "gzip"})
    scan("big.nrrd", numbers.astype(">i2"), {"spacings": [0.5, 0.5, 2], "encoding": "raw", "endian": "big"})
    scan("text.nrrd", numbers, {**lps, "encoding": "ascii"})
    scan("double.nhdr", numbers / 7, {**lps, "encoding": "raw"}, detached_header=True)
    vectors = numpy.stack([numbers, numbers * 2, numbers - 1]).astype(numpy.float32)
    directions = numpy.vstack([[numpy.nan] * 3, affine[:3, :3].T])
    scan(
        "vectors.nrrd",
        vectors,
        {
            **lps,
            "space directions": directions,
            "kinds": ["vector", "domain", "domain", "domain"],
            "encoding": "gzip",
        },
    )
    keep(truth, "scans")


{"vdb": vdb, "scans": scans}[sys.argv[1]]()
