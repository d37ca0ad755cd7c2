// Readers of the world cache that are pixels. The importer binds `cells`, `hits_texture` and `position_texture`.
#import "frame/gbuffer_seen.wgsl"
#import "gi/cell_readers.wgsl"

fn cell_reader_of_pixel(pixel: vec2u) -> CellReader {
    let seen = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz;
    let hit = cell_hit(textureLoad(hits_texture, pixel, 0).xy, seen);
    return CellReader(hit, 0u, pixel.y * frame.size.x + pixel.x);
}
