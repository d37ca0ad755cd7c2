//! The structs and constants that the renderer's shaders share with Rust;
//! [`accel::layout`](canopy_bvh::accel::layout) holds those of the tree.

use canopy_bvh::gpu::{library::wgsl_constants, structs::gpu_structs};

wgsl_constants! {
    /// Lights that a frame can hold: what fits a portable uniform buffer.
    pub const LIGHT_LIMIT: u32 = 256;
    /// Layers of the shadow maps that a frame can hold.
    pub const SHADOW_VIEW_LIMIT: u32 = 128;
    /// Boxes around what has moved, at most.
    pub const SHAFT_BOXES: u32 = 32;
    /// Slots of a batch of shadow rays.
    pub const RAY_BATCH_SLOTS: u32 = 16;
    /// Threads of a workgroup that traces a list of rays.
    pub const RAY_BLOCK: u32 = 64;
    /// Entries in a row of the texture that holds the list of shadow rays.
    pub const RAY_LIST_WIDTH: u32 = 4096;
    /// Words of counts in front of what shadow rays leave behind.
    pub const SHADOW_HEADER: u32 = 2;
    /// Dimension of the sampling sequence for ambient occlusion.
    pub const SAMPLE_OCCLUSION: u32 = 0;
    /// Dimension for the choice of lights.
    pub const SAMPLE_LIGHT_CHOICE: u32 = 1;
    /// Dimension for the first slot of a pixel's lights; one more for each further slot.
    pub const SAMPLE_LIGHTS: u32 = 2;
    /// Dimension for the taps of soft shadow maps.
    pub const SAMPLE_SHADOW_MAPS: u32 = SAMPLE_LIGHTS + LIGHT_LIMIT;
    /// Dimension for the choice of lights of blended surfaces.
    pub const SAMPLE_BLENDED_CHOICE: u32 = SAMPLE_SHADOW_MAPS + 1;
    /// Dimension for the first light of blended surfaces; one more for each further light.
    pub const SAMPLE_BLENDED_LIGHTS: u32 = SAMPLE_BLENDED_CHOICE + 1;
    /// Dimension for the reflections of the first bounce; one more for each further bounce. Those of blended
    /// surfaces lie behind the choices of lobes.
    pub const SAMPLE_REFLECTIONS: u32 = SAMPLE_BLENDED_LIGHTS + LIGHT_LIMIT;
    /// Dimension for the choice of the lobe that sends the ray of the first bounce; further ones as above.
    pub const SAMPLE_LOBES: u32 = SAMPLE_REFLECTIONS + 8;
    /// Dimension for the steps through volumes.
    pub const SAMPLE_VOLUMES: u32 = SAMPLE_LOBES + 64;
    /// Dimension for the choice of the light that bounces off what occludes.
    pub const SAMPLE_BOUNCED_CHOICE: u32 = SAMPLE_VOLUMES + 1;
    /// Dimension for that light.
    pub const SAMPLE_BOUNCED_LIGHT: u32 = SAMPLE_VOLUMES + 2;
    /// Dimension for the points of pixels that masks are looked up at.
    pub const SAMPLE_CUT_OUTS: u32 = SAMPLE_VOLUMES + 3;
    /// Dimension for where froxels are looked at, across the view: behind those of all bounces of reflections.
    pub const SAMPLE_FOG: u32 = 1 << 15;
    /// The same, along the view.
    pub const SAMPLE_FOG_DEPTH: u32 = SAMPLE_FOG + 1;
    /// Dimension for the choice of lights of froxels.
    pub const SAMPLE_FOG_CHOICE: u32 = SAMPLE_FOG + 2;
    /// Dimension for the direction in which froxels see the sky.
    pub const SAMPLE_FOG_SKY: u32 = SAMPLE_FOG + 3;
    /// Dimension for the first light of froxels; one more for each further light.
    pub const SAMPLE_FOG_LIGHTS: u32 = SAMPLE_FOG + 4;
    /// First dimension for paths.
    pub const SAMPLE_PATHS: u32 = 1 << 16;
    /// Dimensions of each surface of a path.
    pub const PATH_DIMENSIONS: u32 = 8;
    /// The direction in which a path goes on.
    pub const PATH_DIRECTION: u32 = 0;
    /// The lobe by which a path goes on, and whether it does.
    pub const PATH_CHOICE: u32 = 1;
    /// Which light is asked.
    pub const PATH_LIGHT: u32 = 2;
    /// A point of that light.
    pub const PATH_LIGHT_POINT: u32 = 3;
    /// A direction of the environment.
    pub const PATH_ENVIRONMENT: u32 = 4;
    /// Which glowing triangle is asked.
    pub const PATH_EMITTER: u32 = 5;
    /// A point of that triangle.
    pub const PATH_EMITTER_POINT: u32 = 6;
    /// The point of the pixel: of the first surface alone.
    pub const PATH_EYE: u32 = 7;
    /// Bins that hits of reflection rays are sorted by: those of a digit of the radix sort.
    pub const REFLECTION_BINS: u32 = 256;
    /// Roughness over which tracing what a surface reflects fades out.
    pub const REFLECTION_FADE: f64 = 0.1;
    /// Perceptual roughness below which surfaces are mirrors for rays: their lobe is narrower than f32
    /// resolves.
    pub const REFLECTION_MIRROR: f64 = 0.02;
    /// Perceptual roughness below which what is reflected moves as in a mirror rather than with its surface.
    pub const REFLECTION_NARROW: f64 = 0.35;
    /// Distance of what a reflection ray does not hit.
    pub const REFLECTION_FAR: f64 = 65504.0;
    /// Word of the arguments of reflections that counts rays.
    pub const REFLECTION_RAYS: u32 = 3;
    /// Word that counts the tiles of 8 × 8 pixels that send any.
    pub const REFLECTION_TILES: u32 = 4;
    /// What a ray has to carry of a radiance of 1, over what its surface reflects at once, to be traced.
    pub const REFLECTION_LEAST: f64 = 1.0 / 1024.0;
    /// Least difference of two pixels that is an edge, in steps of 8 bits of the channel in which they differ
    /// most.
    pub const ANTIALIAS_CONTRAST: u32 = 13;
    /// How far along an edge its ends are looked for, in pixels each way.
    pub const ANTIALIAS_REACH: u32 = 32;
    /// Most steps in time of a walk at once.
    pub const WALK_STEPS: u32 = 30;
    /// Steps of the sums over rays through the air.
    pub const SKY_STEPS: u32 = 32;
    /// Directions per thread in which light falls on the ground.
    pub const SKY_RAYS: u32 = 4;
    /// How many times as bright as it is the light in the tables of the sky is held.
    pub const SKY_SCALE: u32 = 1 << 14;
    /// Bins of the exposure's histogram, eight a stop: from 2^EXPOSURE_LEAST to 2^16, past which a half float
    /// does not reach.
    pub const EXPOSURE_BINS: u32 = 256;
    /// Threads of a workgroup that fills it are as many, and take a square of the picture of this side: what
    /// their sums of 20 bits have room for.
    pub const EXPOSURE_TILE: u32 = 64;
    /// Bits of the least luminance that counts, 2^-16, as f32; what is darker is black.
    pub const EXPOSURE_LEAST_BITS: u32 = (127 - 16) << 23;
    /// Bits of an f32 below those that number its bin.
    pub const EXPOSURE_BIN_SHIFT: u32 = 20;
    /// Most samples that a texel of them is the mean of.
    pub const PREFILTER_SAMPLES_MAX: u32 = 1024;
    /// Entries of the split-sum table in a row, along which lies n · v; an even number.
    pub const BRDF_TABLE_COLUMNS: u32 = 48;
    /// Its rows, of roughness.
    pub const BRDF_TABLE_ROWS: u32 = 32;
    /// Vectors that hold two entries each.
    pub const BRDF_TABLE_PAIRS: u32 = BRDF_TABLE_COLUMNS * BRDF_TABLE_ROWS / 2;
    /// Samples of an entry.
    pub const BRDF_TABLE_SAMPLES: u32 = 1024;
    /// Least perceptual roughness that is shaded: below it a highlight is smaller than a pixel, and its peak
    /// exceeds what f32 can hold.
    pub const ROUGHNESS_MIN: f64 = 0.045;
    /// Largest finite value of a half float, which radiance is stored in.
    pub const RADIANCE_MAX: f64 = 65504.0;
    /// Most samples that the mean of moving frames counts as.
    pub const TEMPORAL_SAMPLES: f64 = 12.0;
    /// Share of the colours that an earlier frame allowed it that it is allowed still.
    pub const TEMPORAL_MEMORY: f64 = 0.5;
    /// Colours that are farther from those that earlier frames allowed are of something else.
    pub const TEMPORAL_OTHER_COLORS: f64 = 0.1;
    /// How much fewer samples it counts as where it shows what is no longer there.
    pub const TEMPORAL_FORGETTING: f64 = 8.0;
    /// Slope of the cubics by which it is resampled, which takes contrast.
    pub const TEMPORAL_SLOPE: f64 = 0.65;
    /// Factor on the areas at an end beyond which the outline does not continue: a corner, or the tip of a
    /// stroke, is no step of a line.
    pub const ANTIALIAS_CORNER: f64 = 0.25;
    /// [`TreeBox::kind`]: coloured by its depth.
    pub const TREE_BOX_BY_DEPTH: u32 = 0;
    /// [`TreeBox::kind`]: of the current step of a ray.
    pub const TREE_BOX_CURRENT: u32 = 1;
    /// [`TreeBox::kind`]: a line from one corner to the other.
    pub const TREE_BOX_LINE: u32 = 2;
    /// Kinds of lines of `overlay`, in the order in which they are drawn.
    pub const OVERLAY_KINDS: u32 = 6;
    /// Edges of the triangles.
    pub const OVERLAY_WIREFRAME: u32 = 0;
    /// A normal of each triangle.
    pub const OVERLAY_FACE_NORMALS: u32 = 1;
    /// Dots at the vertices.
    pub const OVERLAY_VERTICES: u32 = 2;
    /// A normal of each vertex.
    pub const OVERLAY_NORMALS: u32 = 3;
    /// A tangent of each vertex.
    pub const OVERLAY_TANGENTS: u32 = 4;
    /// A bitangent of each vertex.
    pub const OVERLAY_BITANGENTS: u32 = 5;
    /// π.
    pub const PI: f64 = std::f64::consts::PI;
    /// Rays steeper than this pass over neighbouring triangles. Starting them at the triangle keeps the
    /// contact shadows of what touches it.
    pub const GRAZING_MAX: f64 = 0.25;
}

/// Levels of the cube that glossy surfaces mirror, where it is large enough: from smooth to rough.
pub const PREFILTER_LEVELS: u32 = 6;
/// Least texels along an edge of the last of them.
pub const PREFILTER_FACE_MIN: u32 = 8;

gpu_structs! {
    /// The frame, as every pass reads it.
    Frame {
        /// From world offsets to the eye: far from the origin, subtracting the eye first keeps what a full
        /// matrix would round away.
        clip_from_offset: [[f32; 4]; 4],
        eye: [f32; 3],
        light_count: u32,
        /// Unit vector along the view.
        forward: [f32; 3],
        leaf_cutoff: u32,
        /// Through the points that the frame looks at in its pixels.
        rays: ViewRays,
        /// Radiance behind the scene where no environment is seen.
        background: [f32; 3],
        /// Roughness of the mirror that the environment behind the scene is blurred like.
        background_blur: f32,
        to_sun: [f32; 3],
        /// Multiplies what the environment's cube and coefficients hold.
        environment_scale: f32,
        /// Illuminance of the sun whose disc is seen, before the scale; zero without one.
        sun_disc: [f32; 3],
        /// 1 where the environment is seen behind the scene.
        shows_environment: u32,
        /// Cosine and sine of its rotation about +Y.
        environment_turn: [f32; 2],
        size: [u32; 2],
        /// In texels of the shadow map.
        depth_bias: f32,
        /// In texels of the shadow map.
        normal_bias: f32,
        /// 1 when the view is a parallel projection.
        orthographic: u32,
        /// Whether ambient visibility is traced.
        occlusion: u32,
        /// Sine of the elevation below which the ground hides the sun's disc.
        sun_horizon: f32,
        /// Slots of a pixel for the lights that it sends shadow rays to; fewer than lights where they are
        /// chosen.
        light_slots: u32,
        /// Shadow rays to a light that has a size.
        light_rays: u32,
        /// Number of frames before, of whose rays these are the next ones of the sampling sequence.
        sample_index: u32,
        /// Side of a pixel in metres at the eye, and what a metre of depth adds to it.
        pixel_side: [f32; 2],
        /// Half the angular diameter of the sun's disc, in radians.
        sun_radius: f32,
        /// Added to the levels of textures: fewer pixels than are shown have the detail of these.
        texture_bias: f32,
        /// Albedo of the ground below the sky, which that of the scene continues.
        ground_albedo: f32,
        counts_cost: u32,
        /// Perceptual roughness below which surfaces trace what they reflect; 0 where none does.
        reflect_below: f32,
        /// Added to the dimensions of the sampling sequence that lights are sampled in.
        first_dimension: u32,
        /// Radiance that is shown like a colour of 1.
        unlit_radiance: f32,
        /// What of materials is left out: `MATERIALS_…`.
        materials_without: u32,
        /// Extinction of the fog per metre up to `fog_base`; 0 where there is none.
        fog_density: f32,
        /// Height in metres, in the frame's coordinates.
        fog_base: f32,
        /// Per metre above it.
        fog_falloff: f32,
        /// Most that noise adds to the density or takes from it, as a share.
        fog_noise: f32,
        /// 1 where shadow maps are dimmed by volumes: then `shadow_words` hold the shares that these take.
        volume_shadows: u32,
        /// Shadow rays to a light at edges of its shadow that have little history.
        edge_light_rays: u32,
        /// `SHADOWS_MAP`, `SHADOWS_RAYS`, or 0 without shadows.
        shadow_mode: u32,
        /// Taps along an edge of the shadow-map filter.
        pcf_width: u32,
        /// Whether alpha-blended surfaces cast shadows.
        blended_cast: u32,
        /// Whether the surfaces are hits of reflection rays.
        at_hits: u32,
        /// Index in the sampling sequence of the point that masks are looked up at; constant while pixels look at
        /// their middles.
        cut_out_index: u32,
        /// Factor on the plain background in the zenith.
        backdrop_top: f32,
        _pad: [u32; 2],
    }
    /// The ray through the picture's middle, and what half a picture adds to it: to the direction in a perspective, to
    /// the origin in a parallel projection.
    ViewRays {
        origin: [f32; 3],
        _origin: u32,
        /// Advances the depth by a metre.
        direction: [f32; 3],
        _direction: u32,
        origin_right: [f32; 3],
        _origin_right: u32,
        origin_up: [f32; 3],
        _origin_up: u32,
        direction_right: [f32; 3],
        _direction_right: u32,
        direction_up: [f32; 3],
        _direction_up: u32,
    }
    /// A light in world space.
    Light {
        position: [f32; 3],
        /// `LIGHT_DIRECTIONAL`, `LIGHT_POINT` or `LIGHT_SPOT`.
        kind: u32,
        /// Direction in which its light travels.
        direction: [f32; 3],
        /// Metres; 0 for no end.
        range: f32,
        /// Linear colour × lux or candela.
        intensity: [f32; 3],
        /// First layer of its shadow maps; all ones for none.
        shadow_view: u32,
        /// `saturate(cos_angle * spot_scale + spot_offset)²` is the cone's falloff.
        spot_scale: f32,
        spot_offset: f32,
        /// In metres; of a directional light the sine of half its angular diameter. 0 for a point.
        radius: f32,
        _pad: u32,
    }
    /// One layer of the shadow maps.
    ShadowView {
        clip_from_world: [[f32; 4]; 4],
        /// Size of a texel in metres, at distance 1 where the projection is a perspective.
        texel_size: f32,
        /// 1 for a perspective, 0 for a parallel projection.
        perspective: f32,
        /// Distances of the planes between which depth lies, in metres.
        near: f32,
        far: f32,
    }
    /// A material as the raster passes see it.
    Material {
        base_color: [f32; 4],
        emissive: [f32; 3],
        normal_scale: f32,
        metallic: f32,
        roughness: f32,
        occlusion_strength: f32,
        /// Alpha below it is cut out; 0 keeps all.
        alpha_cutoff: f32,
        /// Per texture (base colour, metallic-roughness, normal, occlusion, emissive): 2 bits, 0 none, 1 UV
        /// set 0, 2 UV set 1.
        uv_sets: u32,
        /// The flags `MATERIAL_…` of render/materials/material_uniforms.rs.
        flags: u32,
        _pad: [u32; 2],
        /// Rows of `texture_from_uv`, two per texture in the order above.
        texture_from_uv: [[f32; 4]; 10],
    }
    /// Its layers, where it has any.
    MaterialLayers {
        specular_color: [f32; 3],
        specular: f32,
        sheen_color: [f32; 3],
        sheen_roughness: f32,
        /// What a metre absorbs: −ln of what it lets through.
        absorption: [f32; 3],
        /// Position in the space of the mesh.
        thickness: f32,
        /// Reflectance of the dielectric at normal incidence, before its colour.
        reflectance: f32,
        clearcoat: f32,
        clearcoat_roughness: f32,
        clearcoat_normal_scale: f32,
        /// Cosine and sine of its rotation.
        anisotropy_direction: [f32; 2],
        anisotropy: f32,
        transmission: f32,
        iridescence: f32,
        iridescence_ior: f32,
        /// Nanometres where the texture is 0 and where it is 1.
        iridescence_thickness: [f32; 2],
        /// Index of refraction where the material encloses a volume; else 0.
        volume_ior: f32,
        _pad: [u32; 3],
        /// Per texture of a layer, in the order of `LAYER_…`: in 8 bits which of those bound it is, from 1,
        /// or 0 for none; above it the UV set.
        layer_slots: [[u32; 4]; 3],
        /// Rows of their `texture_from_uv`.
        layer_from_uv: [[f32; 4]; 24],
    }
    /// A mesh instance's part, as `deform` sees it.
    DeformPart {
        first_vertex: u32,
        /// Index into the bind-pose vertices.
        first_source: u32,
        /// Index into the influences; `u32::MAX` when rigid.
        first_influence: u32,
        influences_per_vertex: u32,
        /// Index into the morph deltas.
        first_delta: u32,
        target_count: u32,
        vertex_count: u32,
        /// First of the part's matrices in the pose (4 × vec4 each): one when rigid, one per joint when
        /// skinned.
        first_matrix: u32,
        /// First of the part's morph weights in the pose, in floats.
        first_weight: u32,
    }
    /// Shadow rays that are listed and traced together: of all pixels in a band of rows, to some lights.
    RayBatch {
        first_row: u32,
        first_slot: u32,
        /// At most [`RAY_BATCH_SLOTS`].
        slot_count: u32,
    }
    /// How many rays of a batch are sent.
    RayArguments {
        /// Arguments of the indirect dispatch that traces them.
        groups: [u32; 3],
        /// Entries of the list.
        rays: u32,
        /// Tiles of 8 × 8 pixels that send them.
        tiles: u32,
        /// Rays: several an entry whose light has a size.
        sent: u32,
        _pad: [u32; 2],
    }
    /// The cameras of this frame and the last one, for what has moved in the picture.
    MotionParams {
        /// As [`Frame::clip_from_offset`], without the sample's shift.
        clip_from_offset: [[f32; 4]; 4],
        /// The same of the last frame.
        last_clip_from_offset: [[f32; 4]; 4],
        last_eye: [f32; 3],
        triangle_count: u32,
        /// What the frame looks at in its pixels, less what the last one looked at in its, in pixels.
        jitter: [f32; 2],
        /// Whether the image of displacements holds any.
        moves: u32,
        _pad: u32,
    }
    /// What a frame is added to the mean of those before by.
    TemporalParams {
        /// Where the frame looks at in its pixels, from their middles, in pixels, y down.
        jitter: [f32; 2],
        continues: u32,
        /// As [`TonemapParams::dither`].
        dither: u32,
    }
    /// What a sample of the path tracer knows: path/path_table.wgsl.
    PathParams {
        index: u32,
        bounces: u32,
        clamp: f32,
        near: f32,
        material_word: u32,
        material_stride: u32,
        layer_word: u32,
        layer_stride: u32,
        header_word: u32,
        emitter_word: u32,
        emitter_count: u32,
        environment_word: u32,
        environment_face: u32,
        sheen_word: u32,
        scan_word: u32,
        scan_count: u32,
        count: u32,
        width: u32,
        volume_word: u32,
        volume_count: u32,
        medium: FogMedium,
    }
    /// What the kernels of a surface know that follow paths together: path/path_rows.wgsl.
    PathStage {
        bounce: u32,
        /// Which rays are traced that ask for light.
        ray: u32,
        /// Paths that there is room for.
        capacity: u32,
        /// Bins that hits are sorted by; with one they are not sorted.
        bins: u32,
    }
    /// Rows of a texture that are copied for the path tracer.
    PathTexels {
        /// First word of the texture in the table.
        word: u32,
        level: u32,
        size: [u32; 2],
        first_row: u32,
        srgb: u32,
    }
    /// Rows of a volume that are copied for the path tracer.
    PathVoxels {
        /// Voxels along each axis of the volume.
        size: [u32; 3],
        /// First word of its voxels in the table.
        word: u32,
        level: u32,
        /// Whether they are colours, and the largest component of one.
        colored: u32,
        brightest: f32,
        first_row: u32,
    }
    /// What all passes of a bounce of reflections know.
    ReflectionParams {
        bounce: u32,
        /// Added to `SAMPLE_REFLECTIONS` and `SAMPLE_LOBES`.
        dimension: u32,
        /// Most rays that are traced at once.
        batch: u32,
        /// The part of a lobe's width that what a ray finds is blurred by.
        blur: f32,
        /// 1 where no bounce follows.
        is_last: u32,
        /// As `RayListing` of the settings.
        listing: u32,
        /// As `HitOrder` of the settings.
        order: u32,
        /// Bins of the scene's materials.
        bins: u32,
    }
    /// Which hits a dispatch over a material shades.
    HitMaterial {
        range: u32,
        /// Index of the material; of the range of all without textures the vectors of one in the array of
        /// all.
        material: u32,
    }
    /// Hits of a bin, side by side in the sorted list.
    HitRange {
        /// Arguments of the indirect dispatch that shades them.
        groups: [u32; 3],
        count: u32,
        first: u32,
        /// Bins that have hits, where it is the range of all.
        bins: u32,
        _pad: [u32; 2],
    }
    /// What `reflection_filter` needs.
    ReflectionFilterParams {
        /// Earlier frames that count at most; 0 where the history begins.
        remembered: u32,
        rays: u32,
        /// Pixels between the taps of the filter; 0 where nothing is filtered.
        step: u32,
        /// Whether the camera, lights or anything in the scene has changed since the last frame.
        moves: u32,
        /// How much less bright radiance counts among neighbours.
        compression: f32,
        /// Whether rays of neighbours are reused.
        reuses: u32,
    }
    /// What `occlusion_rays` needs.
    OcclusionParams {
        /// Frames since the history began.
        index: u32,
        rays: u32,
        /// Length of the rays in metres.
        reach: f32,
        /// Number of the ray in the frame whose first hit is told.
        told: u32,
    }
    /// How fog scatters light, and its noise; its density is in [`Frame`].
    FogMedium {
        /// The share of the extinguished light that is scattered.
        albedo: [f32; 3],
        anisotropy: f32,
        /// Of the frame's coordinates, in the world.
        origin: [f32; 3],
        /// Over the size of the noise, per metre.
        noise_scale: f32,
    }
    /// What the passes of the fog, and those that look it up, need.
    FogParams {
        /// Of the last frame, without the sample's shift.
        last_clip_from_offset: [[f32; 4]; 4],
        last_eye: [f32; 3],
        /// `far` of the last frame.
        last_far: f32,
        last_forward: [f32; 3],
        /// Depth in metres at which the froxels end.
        far: f32,
        medium: FogMedium,
        /// Froxels along rows and columns, and in depth.
        size: [u32; 3],
        /// Frames before that count at most; 0 where the history begins.
        remembered: u32,
        /// Whether rays find how much of the sky is seen.
        sky_rays: u32,
        _pad: [u32; 3],
    }
    /// What `deviation` needs.
    DeviationParams {
        /// The frame's origin, from that of the surface that is measured from.
        offset: [f32; 3],
        leaf_cutoff: u32,
        size: [u32; 2],
        /// Distance in metres that counts as 1.
        range: f32,
        /// Pairs of rows in front of the moments of the tree's nodes.
        first_node: u32,
        /// Of the picture.
        rays: ViewRays,
    }
    /// Where something has moved between surfaces and lights.
    ShaftParams {
        /// Boxes.
        count: u32,
        /// Bits of lights that are set in all tiles: where anything may have moved, and that have changed.
        moved: u32,
        changed: u32,
        /// Frames of which one traces a tile's rays.
        retrace: u32,
        lows: [[f32; 4]; SHAFT_BOXES as usize],
        highs: [[f32; 4]; SHAFT_BOXES as usize],
    }
    /// What the filters of a sampled signal need.
    SignalParams {
        /// Earlier frames that count at most; 0 where the history begins.
        remembered: u32,
        /// Rays of a pixel that a frame stands for.
        rays: u32,
        /// Pixels between the taps of the filter; 0 where nothing is filtered.
        step: u32,
        layer: u32,
        /// Of two lights: 1 where the light has a size.
        soft: [f32; 2],
        /// 1 where edges of their shadows get more rays.
        sharpens: u32,
        /// Of radiance: how much less bright radiance counts among neighbours.
        compression: f32,
    }
    /// How a picture is exposed.
    Exposure {
        /// Multiplies radiance.
        scale: f32,
        ev: f32,
        /// Stops (EV) that the picture's histogram leads to; `ev` adapts towards it.
        target_ev: f32,
    }
    /// Pixels of a range of luminance.
    ExposureBin {
        count: u32,
        /// Sum of their positions in the range of luminance, in steps of 2^-20 of it: the lower word and the
        /// upper.
        sum_low: u32,
        sum_high: u32,
    }
    /// How the picture's luminance becomes its exposure.
    ExposureParams {
        /// Shares of the pixels, from the darkest, between which they count.
        low: f32,
        high: f32,
        /// Stops above the exposure of middle grey.
        compensation: f32,
        /// Stops at least and at most.
        least: f32,
        most: f32,
        /// Stops for a black picture.
        fallback: f32,
        /// Share of the way that the exposure adapts in this frame; 1 is all of it.
        share: f32,
    }
    /// What the tone mapper needs.
    TonemapParams {
        /// 0 none, 1 Reinhard, 2 ACES, 3 PBR Neutral, 4 AgX.
        curve: u32,
        /// 0 shows the lit image; else a channel, mapped to colours by its kind.
        channel: u32,
        /// Factor on the values of the channel.
        scale: f32,
        /// 1 where the lit image keeps its coverage as alpha; its colours are premultiplied then.
        transparent: u32,
        offset: [f32; 4],
        /// 1 where the lit image is dithered.
        dither: u32,
        _pad: u32,
        /// What nodes and triangles count in the channel `cost`.
        cost_weights: [f32; 2],
    }
    /// A person who walks, and what a walk of some steps begins with. Positions are relative to the origin of
    /// the merged buffers; lengths in metres, times in seconds.
    WalkParams {
        /// The lowest point of the capsule.
        position: [f32; 3],
        radius: f32,
        velocity: [f32; 3],
        /// Of the capsule.
        height: f32,
        /// The velocity that the person wants, along the ground.
        wish: [f32; 3],
        /// Height of the steps that are climbed.
        rise: f32,
        /// To find a start: from `position` along the view, beyond the scene.
        ahead: [f32; 3],
        /// Gap that stays between the capsule and what it touches.
        skin: f32,
        /// To find a start: above the middle of the scene.
        top: [f32; 3],
        /// Height of the ground below the scene; very low where there is none.
        floor: f32,
        /// The point that the person stands on, where it was last.
        ground_point: [f32; 3],
        gravity: f32,
        /// Weights of the second and third corner of its triangle there.
        ground_weights: [f32; 2],
        /// Its number in the merged index buffer; `BVH_MISS` where it belongs to none.
        ground_triangle: u32,
        /// Whether the person stands.
        is_grounded: u32,
        /// Cosine of the steepest slope that carries.
        walkable: f32,
        /// Speed of a jump; 0 for none.
        jump: f32,
        /// By which the velocity along the ground changes.
        acceleration: f32,
        /// Seconds of a step.
        step_secs: f32,
        /// At most [`WALK_STEPS`].
        steps: u32,
        leaf_cutoff: u32,
        _pad: [u32; 2],
    }
    /// What comes of a walk, as in [`WalkParams`].
    WalkState {
        position: [f32; 3],
        is_grounded: u32,
        velocity: [f32; 3],
        ground_triangle: u32,
        ground_point: [f32; 3],
        _pad0: u32,
        ground_weights: [f32; 2],
        _pad1: [u32; 2],
    }
    /// Where selected meshes are seen, and how their outlines are drawn.
    OutlineParams {
        /// As that of [`Frame`].
        clip_from_offset: [[f32; 4]; 4],
        eye: [f32; 3],
        /// Width of the line in pixels.
        width: f32,
        /// Linear colours of both outlines, as they are shown.
        colors: [[f32; 4]; 2],
        /// Upper left corner of the picture in the target.
        origin: [u32; 2],
        /// Triangles of the merged buffers.
        triangle_count: u32,
        _pad: u32,
    }
    /// A ray from the camera, and where it goes through the G-buffer.
    PickParams {
        origin: [f32; 3],
        t_min: f32,
        direction: [f32; 3],
        t_max: f32,
        eye: [f32; 3],
        leaf_cutoff: u32,
        /// Unit vector along the view.
        forward: [f32; 3],
        /// How many pixels around `pixel` points and lines are looked for; 0 where there are none.
        reach: u32,
        /// The pixel of the G-buffer.
        pixel: [u32; 2],
        /// Of the merged scene.
        triangle_count: u32,
        _pad: u32,
        /// Of the G-buffer.
        rays: ViewRays,
    }
    /// What that ray hits first.
    PickHit {
        /// Corners of the triangle.
        v0: [f32; 3],
        /// Distance in units of the ray's direction.
        t: f32,
        v1: [f32; 3],
        /// `BVH_MISS` where no triangle is hit.
        mesh: u32,
        v2: [f32; 3],
        /// Its number in the merged index buffer.
        triangle: u32,
        /// Interpolated, of any length.
        normal: [f32; 3],
        material: u32,
        uv: [f32; 2],
        /// Weights of the second and third vertex.
        barycentric: [f32; 2],
        /// Where the point or line is.
        segment_position: [f32; 3],
        /// Its number behind the triangles, plus 1; 0 where none is in front.
        segment: u32,
    }
    /// A clear sky; the illuminance is that of the sun above the air, in linear Rec. 709.
    SkyParams {
        /// Unit vector towards the middle of the sun.
        to_sun: [f32; 3],
        /// Multiplies the aerosols: 1 is the published amount, very clear air.
        haze: f32,
        illuminance: [f32; 3],
        ground_albedo: f32,
    }
    /// What a frame of a supersampled picture is added by.
    AccumulateParams {
        /// As [`TonemapParams::curve`].
        curve: u32,
        /// Number of the frame among those of the picture.
        index: u32,
        width: u32,
        /// As [`TonemapParams::transparent`].
        transparent: u32,
        /// As [`TonemapParams::dither`].
        dither: u32,
        /// As [`Frame::unlit_radiance`].
        unlit_radiance: f32,
    }
    /// Parameters of `noise`, the estimate for a picture of many samples.
    NoiseParams {
        width: u32,
        height: u32,
        /// Frames of the picture so far.
        frames: u32,
        /// Frames that it had at the last estimate; 0 before the first.
        frames_before: u32,
        /// Frames that are summed in what is shown: all, or 1 where it is their mean.
        summed: u32,
        /// The same at the last estimate.
        summed_before: u32,
    }
    /// How two pictures are shown together.
    CompareParams {
        /// Upper left corner in pixels of the part of the target that they are shown in.
        origin: [u32; 2],
        /// Its size in pixels.
        size: [u32; 2],
        /// From a pixel's middle in that part to a place in A, in texels: this behind the factor.
        offset_a: [f32; 2],
        /// The same for B.
        offset_b: [f32; 2],
        scale_a: f32,
        scale_b: f32,
        /// Pixels from the left, or from the top, from which B is shown.
        line: f32,
        is_horizontal: u32,
        /// Whether errors are shown instead.
        is_difference: u32,
        /// What errors are multiplied by before they get a colour.
        gain: f32,
        /// Whether errors are those of linear light.
        is_linear: u32,
        /// What B's linear radiance is multiplied by; 0 where B is sRGB-encoded.
        b_exposure: f32,
        /// The tone curve of B's linear radiance: a [`Tonemap`](crate::settings::Tonemap) as a number.
        b_curve: u32,
        _pad: u32,
    }
    /// What the equirectangular image, or a cube of another size, is to become.
    EquirectParams {
        /// Texels of the image in a row, and rows.
        size: [u32; 2],
        first_row: u32,
        /// Along each side of a texel.
        samples: u32,
    }
    /// Rows of a level of the prefiltered cube.
    PrefilterParams {
        count: u32,
        /// First of the rows of each face that are written.
        first_row: u32,
    }
    /// Which channel to extract.
    ChannelParams {
        /// Where the frame's own coordinates have theirs, in the world.
        origin: [f32; 3],
        channel: u32,
        /// A NaN, which WGSL has no word for.
        nan: f32,
        /// Whether volumes are seen.
        volumes: u32,
        _pad: [u32; 2],
    }
    /// Which boxes of the trees are drawn, and how.
    TreeBoxesParams {
        /// From world offsets to the eye.
        clip_from_offset: [[f32; 4]; 4],
        eye: [f32; 3],
        first_leaf: u32,
        /// Unit vector along the view.
        forward: [f32; 3],
        leaf_count: u32,
        /// Pixels of the picture that is drawn over.
        size: [f32; 2],
        /// Whether those are leaves of the TLAS.
        over_meshes: u32,
        leaf_cutoff: u32,
        first_depth: u32,
        last_depth: u32,
        /// Whether boxes of leaves alone are shown, at any depth up to the last.
        leaves_alone: u32,
        /// Pixels from the middle of a line to its edge.
        half_width: f32,
        /// Opacity of what lies behind surfaces.
        hidden: f32,
        _pad: u32,
        pixel_side: [f32; 2],
        /// Upper left corner of the picture in the target.
        origin: [u32; 2],
        _pad2: [u32; 2],
    }
    /// A box that is drawn.
    TreeBox {
        lower: [f32; 3],
        /// Levels below the root.
        depth: u32,
        upper: [f32; 3],
        /// How it is drawn: `TREE_BOX_BY_DEPTH`, `TREE_BOX_CURRENT`, or `TREE_BOX_LINE` from corner to
        /// corner.
        kind: u32,
    }
    /// What of the meshes is drawn over the picture, and how.
    OverlayParams {
        /// From world offsets to the eye.
        clip_from_offset: [[f32; 4]; 4],
        eye: [f32; 3],
        /// Opacity of what lies behind surfaces.
        hidden: f32,
        /// Unit vector along the view.
        forward: [f32; 3],
        /// Pixels from the middle of a line to its edge.
        half_width: f32,
        /// Pixels of the picture that is drawn over.
        size: [f32; 2],
        pixel_side: [f32; 2],
        /// Of normals and tangents, in metres.
        length: f32,
        first_vertex: u32,
        first_triangle: u32,
        _pad: u32,
        /// For each kind the number of the instance after its last one, and how many elements each step goes
        /// on by.
        kinds: [[u32; 4]; OVERLAY_KINDS as usize],
    }
    /// The lens of a frame.
    DepthOfFieldParams {
        /// Diameter of the aperture, in metres, as the focal length.
        aperture: f32,
        focal_length: f32,
        /// Distance along the view that is sharp, in metres; 0 for what the middle of the picture shows.
        focus: f32,
        /// Pixels in a metre of the sensor.
        pixels_per_metre: f32,
    }
    /// How a texture is placed in a window, and what of it is shown.
    TextureViewParams {
        /// Upper left corner of the part of the window, in pixels.
        origin: [f32; 2],
        /// What is seen there, in texels of the finest level.
        first: [f32; 2],
        /// Texels of the finest level along the sides.
        size: [f32; 2],
        texels_per_pixel: f32,
        level: u32,
        /// A bit for each of red, green, blue and alpha.
        channels: u32,
        /// Whether values are shown as sRGB encodes them, or as they are.
        encodes: u32,
        is_smooth: u32,
        /// Stops that values are brightened by before they are shown.
        exposure_ev: f32,
    }
    /// A texel of a texture, and its value.
    TextureViewTexel {
        place: [u32; 2],
        level: u32,
        _pad: u32,
        value: [f32; 4],
    }
    /// The ray whose path is asked for.
    RayPathQuery {
        /// The camera's ray: see [`Ray`](canopy_bvh::accel::Ray).
        origin: [f32; 3],
        t_min: f32,
        direction: [f32; 3],
        t_max: f32,
        /// Of the G-buffer.
        pixel: [u32; 2],
        /// Whether the pixel's shadow rays are traced instead.
        shadow: u32,
        _pad: u32,
    }
    /// How long the path of a pixel's rays is.
    RayPathHead {
        /// Steps there were, of which the first are kept.
        steps: u32,
        nodes: u32,
        triangles: u32,
    }
    /// A step of a ray through the trees.
    RayStep {
        /// Of a node where its children's boxes are entered, negative where they are missed. Of a ray its
        /// origin and `t_min`; of a triangle the distance of the hit, negative where it is missed.
        values: [f32; 4],
        kind: u32,
        /// Number of the node; leaf of the triangle; 1 where a hit was accepted.
        number: u32,
        t_max: f32,
        _pad: u32,
        /// The node's rows, or the triangle's, or in the first of them the ray's direction.
        rows: [[u32; 4]; 4],
    }
    /// A volume, and how it is marched through.
    VolumeParams {
        /// From the frame's coordinates to the lattice, whose voxel i lies between i and i + 1 along each
        /// axis.
        voxel_from_world: [[f32; 4]; 4],
        world_from_voxel: [[f32; 4]; 4],
        /// Voxels along each axis.
        size: [f32; 3],
        /// Extinction per metre of a texel of 1, on top of the base.
        scale: f32,
        /// Share of the extinction that scatters.
        albedo: [f32; 3],
        /// Extinction per metre of a texel of 0.
        base: f32,
        /// Cells of the light grid along each axis.
        cells: [u32; 3],
        /// Lights that shine into the volume.
        lights: u32,
        anisotropy: f32,
        /// Length of a step in voxels.
        step: f32,
        /// Radiance per metre where the volume is hottest.
        emission: f32,
        /// The texel at whose value a surface lies; negative for none.
        isovalue: f32,
        /// From texels to places in the transfer function, from 0 to 1.
        transfer_scale: f32,
        transfer_base: f32,
        /// `VOLUME_…`.
        flags: u32,
        _pad: u32,
        /// Colours by temperature, from 0 to that of the hottest voxel: a table of 128 entries.
        blackbody: [[[f32; 4]; 32]; 4],
        /// Colour and opacity by value, as many.
        transfer: [[[f32; 4]; 32]; 4],
    }
    /// What nodes and triangles count in the channel `cost`.
    CostRangeParams {
        weights: [f32; 2],
    }
}
