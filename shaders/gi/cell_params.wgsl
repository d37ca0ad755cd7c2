// Parameters of the passes of the world cache (gi/cells.wgsl).

struct CellParams {
    // Number of the frame, from 1 on.
    index: u32,
    // Greatest number of frames in the means of a cell, without this one.
    most_frames: u32,
    // Greatest numbers of cells that cast rays in a frame: of cells without a mean yet, and of others.
    most_new: u32,
    most_known: u32,
    // Nonzero if the cache begins empty.
    begins: u32,
    // Mark of this frame's entries in the list of cells, which also holds older entries. It never repeats.
    tag: u32,
}
