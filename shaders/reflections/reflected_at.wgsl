// Reflection of a pixel's surface, read from `reflected_words`. The importer binds it.
#import "reflections/reflected.wgsl"
#import "material/reflection.wgsl"

fn reflected_at(pixel: vec2u, s: Surface) -> TracedReflection {
    let share = select(reflection_share(s), 1.0, s.layered);
    if share == 0.0 || frame.reflect_below == 0.0 {
        return reflected_nothing();
    }
    let found = reflected_unpack(reflected_words[pixel.y * frame.size.x + pixel.x]);
    return TracedReflection(found.rgb, select(0.0, share, found.a > 0.0));
}
