//! Structs and constants that the renderer's shaders share with Rust. The BVH's own are in
//! [`accel::layout`](canopy_bvh::accel::layout).

use canopy_bvh::gpu::{library::wgsl_constants, structs::gpu_structs};

wgsl_constants! {
    /// Maximum number of lights that fog, volumes and the laboratory see. They fill a uniform buffer of
    /// 16 KiB, the portable limit. It is also the maximum number of light slots of a pixel.
    pub const FIRST_LIGHTS: u32 = 256;
    /// Maximum number of shadow-map layers in a frame.
    pub const SHADOW_VIEW_LIMIT: u32 = 128;
    /// Maximum number of bounding boxes around moved geometry in [`ShaftParams`].
    pub const SHAFT_BOXES: u32 = 32;
    /// Maximum number of light slots in a batch of shadow rays.
    pub const RAY_BATCH_SLOTS: u32 = 16;
    /// Workgroup size of the passes that trace a list of rays.
    pub const RAY_BLOCK: u32 = 64;
    /// Width in texels of the texture that holds the list of shadow rays.
    pub const RAY_LIST_WIDTH: u32 = 4096;
    /// Number of words at the start of the shadow-visibility buffer that hold counters.
    pub const SHADOW_HEADER: u32 = 2;
    /// Dimension of the sampling sequence for ambient occlusion.
    pub const SAMPLE_OCCLUSION: u32 = 0;
    /// Dimension for choosing lights. Here and for the choices below, except that of fog, the second coordinate
    /// draws lights from their tree.
    pub const SAMPLE_LIGHT_CHOICE: u32 = 1;
    /// Dimension for the first light slot of a pixel. Each further slot takes the next dimension.
    pub const SAMPLE_LIGHTS: u32 = 2;
    /// Dimension for the filter taps of soft shadow maps.
    pub const SAMPLE_SHADOW_MAPS: u32 = SAMPLE_LIGHTS + FIRST_LIGHTS;
    /// Dimension for choosing lights at blended surfaces.
    pub const SAMPLE_BLENDED_CHOICE: u32 = SAMPLE_SHADOW_MAPS + 1;
    /// Dimension for the first light of blended surfaces. Each further light takes the next dimension.
    pub const SAMPLE_BLENDED_LIGHTS: u32 = SAMPLE_BLENDED_CHOICE + 1;
    /// Dimension for the reflection ray of the first bounce. Each further bounce takes the next dimension.
    /// Blended surfaces use the dimensions after those that choose lobes.
    pub const SAMPLE_REFLECTIONS: u32 = SAMPLE_BLENDED_LIGHTS + FIRST_LIGHTS;
    /// Dimension for choosing the lobe of the first bounce's reflection ray. Further bounces and blended
    /// surfaces follow as in [`SAMPLE_REFLECTIONS`].
    pub const SAMPLE_LOBES: u32 = SAMPLE_REFLECTIONS + 8;
    /// Dimension for the ray-marching steps through volumes.
    pub const SAMPLE_VOLUMES: u32 = SAMPLE_LOBES + 64;
    /// Dimension for choosing the light at the hits of occlusion rays (bounced light).
    pub const SAMPLE_BOUNCED_CHOICE: u32 = SAMPLE_VOLUMES + 1;
    /// Dimension for the point on the light that [`SAMPLE_BOUNCED_CHOICE`] chooses.
    pub const SAMPLE_BOUNCED_LIGHT: u32 = SAMPLE_VOLUMES + 2;
    /// Dimension for the sub-pixel position at which alpha masks are sampled.
    pub const SAMPLE_CUT_OUTS: u32 = SAMPLE_VOLUMES + 3;
    /// Dimension for choosing an emissive triangle, and for casting a ray to it.
    pub const SAMPLE_EMITTER: u32 = SAMPLE_CUT_OUTS + 1;
    /// Dimension for a point of that triangle.
    pub const SAMPLE_EMITTER_POINT: u32 = SAMPLE_CUT_OUTS + 2;
    /// Dimension for the sample position in a froxel across the view. It lies after the dimensions of all
    /// reflection bounces.
    pub const SAMPLE_FOG: u32 = 1 << 15;
    /// Dimension for the sample position in a froxel along the view.
    pub const SAMPLE_FOG_DEPTH: u32 = SAMPLE_FOG + 1;
    /// Dimension for choosing lights at froxels.
    pub const SAMPLE_FOG_CHOICE: u32 = SAMPLE_FOG + 2;
    /// Dimension for the direction of a froxel's sky-visibility ray.
    pub const SAMPLE_FOG_SKY: u32 = SAMPLE_FOG + 3;
    /// Dimension for the first light of froxels. Each further light takes the next dimension.
    pub const SAMPLE_FOG_LIGHTS: u32 = SAMPLE_FOG + 4;
    /// First dimension for paths.
    pub const SAMPLE_PATHS: u32 = 1 << 16;
    /// Number of dimensions for each surface of a path. The `PATH_…` constants below are offsets into them.
    pub const PATH_DIMENSIONS: u32 = 8;
    /// Direction of the next path segment.
    pub const PATH_DIRECTION: u32 = 0;
    /// Choice of the lobe that continues a path, and Russian roulette.
    pub const PATH_CHOICE: u32 = 1;
    /// Choice of the light to sample.
    pub const PATH_LIGHT: u32 = 2;
    /// Point on the light that [`PATH_LIGHT`] chooses.
    pub const PATH_LIGHT_POINT: u32 = 3;
    /// Direction towards the environment.
    pub const PATH_ENVIRONMENT: u32 = 4;
    /// Choice of the emissive triangle to sample.
    pub const PATH_EMITTER: u32 = 5;
    /// Point on the triangle that [`PATH_EMITTER`] chooses.
    pub const PATH_EMITTER_POINT: u32 = 6;
    /// Position within the pixel; used by the first surface only.
    pub const PATH_EYE: u32 = 7;
    /// Maximum number of material bins by which the hits of reflection rays are sorted. It is the number of
    /// values of an 8-bit radix-sort digit.
    pub const REFLECTION_BINS: u32 = 256;
    /// Width of the roughness range over which traced reflections fade out.
    pub const REFLECTION_FADE: f64 = 0.1;
    /// Perceptual roughness below which rays treat a surface as a perfect mirror. Narrower lobes are not
    /// resolved by f32.
    pub const REFLECTION_MIRROR: f64 = 0.02;
    /// Perceptual roughness below which reflections are reprojected by the motion of the mirrored hit point.
    /// Rougher surfaces use the motion of the surface itself.
    pub const REFLECTION_NARROW: f64 = 0.35;
    /// Hit distance that is stored for a reflection ray that misses.
    pub const REFLECTION_FAR: f64 = 65504.0;
    /// Index of the ray counter among the indirect arguments of reflections.
    pub const REFLECTION_RAYS: u32 = 3;
    /// Index of the counter of 8 × 8 pixel tiles that cast reflection rays.
    pub const REFLECTION_TILES: u32 = 4;
    /// Minimum throughput of a reflection ray that is traced, relative to the weight of all lobes of its
    /// surface.
    pub const REFLECTION_MIN: f64 = 1.0 / 1024.0;
    /// Minimum difference between two pixels that counts as an edge, in 8-bit steps of the channel with the
    /// largest difference.
    pub const ANTIALIAS_CONTRAST: u32 = 13;
    /// Search distance for the ends of an edge, in pixels in each direction.
    pub const ANTIALIAS_SEARCH_DISTANCE: u32 = 32;
    /// Maximum number of time steps in one dispatch of the walk simulation.
    pub const WALK_STEPS: u32 = 30;
    /// Integration steps along a ray through the atmosphere.
    pub const SKY_STEPS: u32 = 32;
    /// Directions per thread in the integral of the ground's irradiance.
    pub const SKY_RAYS: u32 = 4;
    /// Factor on the light that is stored in the sky's lookup tables.
    pub const SKY_SCALE: u32 = 1 << 14;
    /// Bins of the exposure histogram, eight per stop. They range from 2^-16 to 2^16, the limit of
    /// a half float.
    pub const EXPOSURE_BINS: u32 = 256;
    /// Side in pixels of the square that one histogram workgroup reads. The workgroup has one thread per bin.
    /// Its 20-bit sums have room for no larger square.
    pub const EXPOSURE_TILE: u32 = 64;
    /// Bit pattern of the `f32` 2^-16, the minimum luminance that does not count as black.
    pub const EXPOSURE_MIN_BITS: u32 = (127 - 16) << 23;
    /// Number of low bits of an `f32` that are shifted out to get its bin index.
    pub const EXPOSURE_BIN_SHIFT: u32 = 20;
    /// Maximum number of samples per texel of the prefiltered cube.
    pub const PREFILTER_SAMPLES_MAX: u32 = 1024;
    /// Columns of the split-sum BRDF table, indexed by n · v; an even number.
    pub const BRDF_TABLE_COLUMNS: u32 = 48;
    /// Rows of the split-sum BRDF table, indexed by roughness.
    pub const BRDF_TABLE_ROWS: u32 = 32;
    /// Number of vectors in the split-sum BRDF table. Each holds two entries.
    pub const BRDF_TABLE_PAIRS: u32 = BRDF_TABLE_COLUMNS * BRDF_TABLE_ROWS / 2;
    /// Samples per entry of the split-sum BRDF table.
    pub const BRDF_TABLE_SAMPLES: u32 = 1024;
    /// Minimum perceptual roughness for shading. Below it a highlight is smaller than a pixel, and its peak
    /// overflows f32.
    pub const ROUGHNESS_MIN: f64 = 0.045;
    /// Largest finite value of a half float. Radiance is stored in half floats.
    pub const RADIANCE_MAX: f64 = 65504.0;
    /// Maximum sample count of the history of temporal anti-aliasing.
    pub const TEMPORAL_SAMPLES: f64 = 12.0;
    /// Temporal anti-aliasing: weight of the previous frame's colour box when it widens the current one.
    pub const TEMPORAL_MEMORY: f64 = 0.5;
    /// Temporal anti-aliasing: distance between the previous and the current colour box from which on they
    /// belong to different surfaces.
    pub const TEMPORAL_OTHER_COLORS: f64 = 0.1;
    /// Temporal anti-aliasing: rate at which the history's sample count drops with its distance outside the
    /// colour box.
    pub const TEMPORAL_FORGETTING: f64 = 8.0;
    /// Temporal anti-aliasing: slope of the cubic filter that resamples the history. It counteracts the loss
    /// of contrast through repeated resampling.
    pub const TEMPORAL_SLOPE: f64 = 0.65;
    /// Factor on the coverage at an end of an edge where the outline does not continue. A corner or the tip
    /// of a stroke is not a step of a line.
    pub const ANTIALIAS_CORNER: f64 = 0.25;
    /// [`TreeBox::kind`]: box coloured by its depth.
    pub const TREE_BOX_BY_DEPTH: u32 = 0;
    /// [`TreeBox::kind`]: box of the current step of a ray.
    pub const TREE_BOX_CURRENT: u32 = 1;
    /// [`TreeBox::kind`]: line from the lower to the upper corner.
    pub const TREE_BOX_LINE: u32 = 2;
    /// Number of kinds of lines of `overlay`. The constants below are in drawing order.
    pub const OVERLAY_KINDS: u32 = 6;
    /// Triangle edges.
    pub const OVERLAY_WIREFRAME: u32 = 0;
    /// Face normals.
    pub const OVERLAY_FACE_NORMALS: u32 = 1;
    /// Vertex dots.
    pub const OVERLAY_VERTICES: u32 = 2;
    /// Vertex normals.
    pub const OVERLAY_NORMALS: u32 = 3;
    /// Vertex tangents.
    pub const OVERLAY_TANGENTS: u32 = 4;
    /// Vertex bitangents.
    pub const OVERLAY_BITANGENTS: u32 = 5;
    /// π.
    pub const PI: f64 = std::f64::consts::PI;
    /// Maximum cosine with the triangle's normal at which a shadow ray counts as grazing, for the
    /// shadow-terminator correction. Steeper rays clear the neighbouring triangles, so they start on the
    /// triangle. This keeps the contact shadows of objects that touch it.
    pub const GRAZING_MAX: f64 = 0.25;
}

/// Maximum number of lights in a frame. The index of a chosen light has 16 bits (shadow/chosen_light.wgsl).
pub const LIGHT_LIMIT: u32 = 1 << 16;
/// Maximum number of mip levels of the prefiltered environment cube, from smooth to rough.
pub const PREFILTER_LEVELS: u32 = 6;
/// Minimum face size in texels of the last prefiltered level.
pub const PREFILTER_FACE_MIN: u32 = 8;

gpu_structs! {
    /// Uniforms of the frame, which every pass reads.
    Frame {
        /// Clip space from world-space offsets relative to the eye. Subtracting the eye first keeps precision
        /// far from the origin that a full matrix would round away.
        clip_from_offset: [[f32; 4]; 4],
        eye: [f32; 3],
        light_count: u32,
        /// Unit vector along the view.
        forward: [f32; 3],
        leaf_cutoff: u32,
        /// Camera rays through the jittered sample positions of the pixels.
        rays: ViewRays,
        /// Radiance of the background if the environment is not visible.
        background: [f32; 3],
        /// Blur of the environment as background, expressed as the roughness of a mirror that reflects it.
        background_blur: f32,
        to_sun: [f32; 3],
        /// Factor on the environment's cube map and SH coefficients.
        environment_scale: f32,
        /// Illuminance of the visible sun disc, before `environment_scale` is applied; zero if there is no
        /// disc.
        sun_disc: [f32; 3],
        /// 1 if the environment is visible as background.
        shows_environment: u32,
        /// Cosine and sine of the environment's rotation about +Y.
        environment_turn: [f32; 2],
        size: [u32; 2],
        /// Bias along the light direction, in texels of the shadow map.
        depth_bias: f32,
        /// Bias along the normal, in texels of the shadow map.
        normal_bias: f32,
        /// 1 for an orthographic projection.
        orthographic: u32,
        /// 1 if ambient occlusion is traced.
        occlusion: u32,
        /// Sine of the elevation below which the ground hides the sun's disc.
        sun_horizon: f32,
        /// Number of light slots of a pixel. It traces shadow rays to one light per slot. There are fewer
        /// slots than lights if lights are chosen stochastically.
        light_slots: u32,
        /// Shadow rays per pixel to an area light.
        light_rays: u32,
        /// Number of earlier frames. This frame's rays take the next points of the sampling sequence.
        sample_index: u32,
        /// Side of a pixel in metres at the eye, and its growth per metre of depth.
        pixel_side: [f32; 2],
        /// Half the angular diameter of the sun's disc, in radians.
        sun_radius: f32,
        /// Bias on the mip level of textures. It sharpens textures where the frame has fewer pixels than the
        /// picture shown.
        texture_bias: f32,
        /// Albedo of the ground below the sky. The scene's ground plane continues it.
        ground_albedo: f32,
        counts_cost: u32,
        /// Perceptual roughness below which surfaces trace reflection rays; 0 if no surface does.
        reflect_below: f32,
        /// Offset that is added to the sampling dimensions of lights. It differs between the primary surfaces
        /// and the hits of each bounce.
        first_dimension: u32,
        /// Radiance that is displayed like an unlit colour of 1.
        unlit_radiance: f32,
        /// Parts of materials that are left out: bits `MATERIALS_…`.
        materials_without: u32,
        /// Extinction of the fog per metre below `fog_base`; 0 if there is no fog.
        fog_density: f32,
        /// Height in metres, in the frame's coordinates, above which the fog thins out.
        fog_base: f32,
        /// Exponential falloff of the extinction per metre above `fog_base`.
        fog_falloff: f32,
        /// Amplitude of the noise relative to the density.
        fog_noise: f32,
        /// 1 if volumes attenuate the light of shadow-mapped lights. `shadow_words` then hold their
        /// transmittance.
        volume_shadows: u32,
        /// Shadow rays to an area light at edges of its shadow that have little history.
        edge_light_rays: u32,
        /// `SHADOWS_MAP`, `SHADOWS_RAYS`, or 0 without shadows.
        shadow_mode: u32,
        /// Width in taps of the PCF kernel.
        pcf_width: u32,
        /// 1 if alpha-blended surfaces cast shadows.
        blended_cast: u32,
        /// 1 if the shaded surfaces are hits of reflection rays.
        at_hits: u32,
        /// Index in the sampling sequence of the sub-pixel position at which alpha masks are sampled. It is
        /// constant while the frame is not jittered.
        cut_out_index: u32,
        /// Factor on the plain background at the zenith.
        backdrop_top: f32,
        all_bounces: u32,
        /// Number of lights that a surface looks at: all, or as many as it draws from the tree of lights.
        light_candidates: u32,
        /// Number of directional lights if there is a tree of lights. They come first.
        distant_lights: u32,
        /// First word of the lights in the scene's tables.
        lights_word: u32,
        _pad: [u32; 2],
        /// Origin of the grid of the tree's boxes, and units of the grid per metre.
        light_grid: [f32; 4],
    }
    /// Ray through the centre of the picture, and its change over half the picture. In a perspective
    /// projection the direction changes, in a parallel projection the origin.
    ViewRays {
        origin: [f32; 3],
        _origin: u32,
        /// Not normalised: its length along the view axis is one metre.
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
        /// Direction in which the light travels.
        direction: [f32; 3],
        /// Range in metres; 0 for unlimited.
        range: f32,
        /// Linear colour × illuminance in lux or intensity in candela.
        intensity: [f32; 3],
        /// First layer of the light's shadow maps; all ones for none.
        shadow_view: u32,
        /// The cone's falloff is `saturate(cos_angle * spot_scale + spot_offset)²`.
        spot_scale: f32,
        spot_offset: f32,
        /// Radius in metres; for a directional light, the sine of half its angular diameter. 0 for a point
        /// light.
        radius: f32,
        _pad: u32,
    }
    /// Camera of a shadow-map layer.
    ShadowView {
        clip_from_world: [[f32; 4]; 4],
        /// Size of a texel in metres; in a perspective projection, at distance 1.
        texel_size: f32,
        /// 1 for a perspective, 0 for a parallel projection.
        perspective: f32,
        /// Distances of the near and far planes in metres.
        near: f32,
        far: f32,
    }
    /// Uniforms of a material.
    Material {
        base_color: [f32; 4],
        emissive: [f32; 3],
        normal_scale: f32,
        metallic: f32,
        roughness: f32,
        occlusion_strength: f32,
        /// Alpha mask cutoff, below which fragments are discarded; 0 keeps all fragments.
        alpha_cutoff: f32,
        /// Two bits per texture (base colour, metallic-roughness, normal, occlusion, emissive): 0 none, 1 UV
        /// set 0, 2 UV set 1.
        uv_sets: u32,
        /// Flags `MATERIAL_…` of materials/material_uniforms.rs.
        flags: u32,
        _pad: [u32; 2],
        /// Rows of the UV transforms, two per texture in the order above.
        texture_from_uv: [[f32; 4]; 10],
    }
    /// Layers of a material that has any, such as clear coat, sheen and transmission.
    MaterialLayers {
        specular_color: [f32; 3],
        specular: f32,
        sheen_color: [f32; 3],
        sheen_roughness: f32,
        /// Absorption coefficient per metre: −ln of the transmittance of a metre.
        absorption: [f32; 3],
        /// Thickness in the space of the mesh.
        thickness: f32,
        /// Reflectance of the dielectric at normal incidence, before the specular colour.
        reflectance: f32,
        clearcoat: f32,
        clearcoat_roughness: f32,
        clearcoat_normal_scale: f32,
        /// Cosine and sine of the anisotropy's rotation.
        anisotropy_direction: [f32; 2],
        anisotropy: f32,
        transmission: f32,
        iridescence: f32,
        iridescence_ior: f32,
        /// Thickness of the film in nanometres where the texture is 0 and where it is 1.
        iridescence_thickness: [f32; 2],
        /// Index of refraction if the material encloses a volume; else 0.
        volume_ior: f32,
        _pad: [u32; 3],
        /// One word per texture of a layer, in the order of `LAYER_…`. The low 8 bits are the index of its
        /// binding, counted from 1, or 0 for none. The UV set is in the bits above.
        layer_slots: [[u32; 4]; 3],
        /// Rows of the UV transforms of these textures, two per texture.
        layer_from_uv: [[f32; 4]; 24],
    }
    /// Part of a mesh instance that `deform` processes.
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
        /// First of the part's matrices in the pose (4 × vec4 each). A rigid part has one, a skinned part one
        /// per joint.
        first_matrix: u32,
        /// First of the part's morph weights in the pose, in floats.
        first_weight: u32,
    }
    /// Batch of shadow rays that are listed and traced together: the pixels in a range of rows, for a range
    /// of light slots.
    RayBatch {
        row_offset: u32,
        first_slot: u32,
        /// At most [`RAY_BATCH_SLOTS`].
        slot_count: u32,
    }
    /// Counters of a batch of shadow rays.
    RayArguments {
        /// Arguments of the indirect dispatch that traces the rays.
        groups: [u32; 3],
        /// Number of entries in the list of rays.
        rays: u32,
        /// Number of tiles of 8 × 8 pixels that cast rays.
        tiles: u32,
        /// Number of rays that are traced. An entry for an area light stands for several rays.
        sent: u32,
        _pad: [u32; 2],
    }
    /// Cameras of this frame and the last one, for motion vectors.
    MotionParams {
        /// [`Frame::clip_from_offset`] without the frame's jitter.
        clip_from_offset: [[f32; 4]; 4],
        /// The last frame's `clip_from_offset`, also without jitter.
        last_clip_from_offset: [[f32; 4]; 4],
        last_eye: [f32; 3],
        triangle_count: u32,
        /// Jitter of this frame minus the jitter of the last frame, in pixels.
        jitter: [f32; 2],
        /// 1 if the image of displacements is written.
        moves: u32,
        _pad: u32,
    }
    /// Parameters of temporal anti-aliasing.
    TemporalParams {
        /// Sub-pixel jitter from the pixel centres, in pixels, y down.
        jitter: [f32; 2],
        continues: u32,
        /// Same as [`TonemapParams::dither`].
        dither: u32,
    }
    /// Parameters of a sample of the path tracer. Its fields are described in path/path_table.wgsl.
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
        sure_bounces: u32,
        _pad: [u32; 3],
        medium: FogMedium,
    }
    /// Parameters of the path tracer's kernels at one bounce. Its fields are described in
    /// path/path_rows.wgsl.
    PathStage {
        bounce: u32,
        /// Kind of shadow ray that is traced: to a light, the environment or an emissive triangle.
        ray: u32,
        /// Number of paths that the rows have room for.
        capacity: u32,
        /// Number of bins that hits are sorted by; 1 leaves them unsorted.
        bins: u32,
    }
    /// Range of rows of a texture that is copied into the path tracer's table.
    PathTexels {
        /// Index of the texture's first word in the table.
        word: u32,
        level: u32,
        size: [u32; 2],
        row_offset: u32,
        srgb: u32,
    }
    /// Range of rows of a volume that is copied into the path tracer's table.
    PathVoxels {
        /// Voxels along each axis of the volume.
        size: [u32; 3],
        /// Index of the first word of its voxels in the table.
        word: u32,
        level: u32,
        /// 1 if the voxels are colours. `brightest` is then the largest component of any of them.
        colored: u32,
        brightest: f32,
        row_offset: u32,
    }
    /// Parameters of the passes of one bounce of reflections.
    ReflectionParams {
        bounce: u32,
        /// Offset to `SAMPLE_REFLECTIONS` and `SAMPLE_LOBES`.
        dimension: u32,
        /// Maximum number of rays in a batch.
        batch: u32,
        /// Additional blur of texture and environment lookups at the end of a ray, as a fraction of its
        /// lobe's width.
        blur: f32,
        /// 1 for the last bounce.
        is_last: u32,
        /// `RayListing` of the settings as a number.
        listing: u32,
        /// `HitOrder` of the settings as a number.
        order: u32,
        /// Number of bins of the scene's materials.
        bins: u32,
    }
    /// Parameters of a dispatch that shades the hits on one material.
    HitMaterial {
        range: u32,
        /// Index of the material. In the dispatch for all materials without textures, it is the stride in
        /// vectors between materials in the array of all.
        material: u32,
    }
    /// Hits of a material bin, which are contiguous in the sorted list.
    HitRange {
        /// Arguments of the indirect dispatch that shades the hits.
        groups: [u32; 3],
        count: u32,
        first: u32,
        /// Number of non-empty bins; only in the range of all hits.
        bins: u32,
        _pad: [u32; 2],
    }
    /// Parameters of `reflection_filter`.
    ReflectionFilterParams {
        /// Maximum history length in frames, without this one. 0 restarts the history.
        max_history: u32,
        rays: u32,
        /// Distance in pixels between the filter taps; 0 disables the filter.
        step: u32,
        /// 1 if the camera, the lights or anything in the scene has changed since the last frame.
        moves: u32,
        /// Compression of bright radiance in averages over neighbours.
        compression: f32,
        /// 1 if rays of neighbouring pixels are reused.
        reuses: u32,
    }
    /// Parameters of `occlusion_rays`.
    OcclusionParams {
        /// Frames since the history began.
        index: u32,
        rays: u32,
        /// Length of the rays in metres.
        reach: f32,
        /// Index of the ray whose closest hit is stored; a number past the last ray for none. The other rays
        /// are any-hit rays.
        recorded_ray: u32,
        /// 1 if the path tracer follows the rays on from their hits.
        starts_paths: u32,
    }
    /// Parameters of the passes of the world cache. Its fields are described in gi/cell_params.wgsl.
    CellParams {
        index: u32,
        most_frames: u32,
        most_new: u32,
        most_known: u32,
        begins: u32,
        tag: u32,
    }
    /// Scattering properties and noise of the fog. The density is in [`Frame`].
    FogMedium {
        /// Single-scattering albedo.
        albedo: [f32; 3],
        anisotropy: f32,
        /// Origin of the frame's coordinates in world space.
        origin: [f32; 3],
        /// Spatial frequency of the noise per metre.
        noise_scale: f32,
    }
    /// Parameters of the fog's froxel passes and of the passes that sample the froxels.
    FogParams {
        /// The last frame's [`Frame::clip_from_offset`], without jitter.
        last_clip_from_offset: [[f32; 4]; 4],
        last_eye: [f32; 3],
        /// The last frame's `far`.
        last_far: f32,
        last_forward: [f32; 3],
        /// Depth in metres of the far end of the froxel grid.
        far: f32,
        medium: FogMedium,
        /// Size of the froxel grid: columns, rows and depth slices.
        size: [u32; 3],
        /// Maximum history length in frames, without this one. 0 restarts the history.
        max_history: u32,
        /// 1 if rays sample the visibility of the sky.
        sky_rays: u32,
        _pad: [u32; 3],
    }
    /// Parameters of `deviation`.
    DeviationParams {
        /// Origin of the frame's coordinates relative to the origin of the compared surface.
        offset: [f32; 3],
        leaf_cutoff: u32,
        size: [u32; 2],
        /// Tolerance in metres, which maps to 1.
        range: f32,
        /// Index of the first pair of rows that holds moments of the BVH's nodes.
        first_node: u32,
        /// Camera rays of the picture.
        rays: ViewRays,
    }
    /// Bounding boxes of moved geometry, for finding shadow rays that may have changed.
    ShaftParams {
        /// Number of boxes.
        count: u32,
        /// Light bits that are set in all tiles. `moved` is for unknown movement, `changed` for lights that
        /// have changed.
        moved: u32,
        changed: u32,
        /// Re-trace all rays of a tile every `retrace` frames.
        retrace: u32,
        lows: [[f32; 4]; SHAFT_BOXES as usize],
        highs: [[f32; 4]; SHAFT_BOXES as usize],
    }
    /// Parameters of the denoiser's passes for a signal.
    SignalParams {
        /// Maximum history length in frames, without this one. 0 restarts the history.
        max_history: u32,
        /// Rays per pixel that each frame counts as.
        rays: u32,
        /// Distance in pixels between the filter taps; 0 disables the filter.
        step: u32,
        layer: u32,
        /// For each of two lights, 1 if it is an area light.
        soft: [f32; 2],
        /// 1 if edges of their shadows get extra rays.
        sharpens: u32,
        /// For signals of radiance, compression of bright values in averages over neighbours.
        compression: f32,
    }
    /// Exposure of the image.
    Exposure {
        /// Factor on radiance.
        scale: f32,
        ev: f32,
        /// Target of the adaptation in stops (EV), from the histogram. `ev` adapts towards it.
        target_ev: f32,
    }
    /// Bin of the exposure histogram.
    ExposureBin {
        count: u32,
        /// Low and high word of the sum of the pixels' positions within the bin, in steps of 2^-20 of its
        /// width.
        sum_low: u32,
        sum_high: u32,
    }
    /// Parameters of exposure metering.
    ExposureParams {
        /// Low and high percentile between which pixels count, as fractions of all pixels.
        low: f32,
        high: f32,
        /// Exposure compensation in stops.
        compensation: f32,
        /// Minimum and maximum exposure in stops.
        min_ev: f32,
        max_ev: f32,
        /// Exposure of a black picture in stops.
        fallback: f32,
        /// Fraction of the difference to the target that the exposure adapts by in this frame; 1 adapts at
        /// once.
        share: f32,
    }
    /// Parameters of `tonemap`.
    TonemapParams {
        /// Tone curve: 0 none, 1 Reinhard, 2 ACES, 3 PBR Neutral, 4 AgX.
        curve: u32,
        /// 0 shows the lit picture; otherwise a channel, mapped to colours by its kind.
        channel: u32,
        /// Factor on the values of the channel.
        scale: f32,
        /// 1 if the lit picture keeps its coverage as alpha. Its colours are then premultiplied.
        transparent: u32,
        offset: [f32; 4],
        /// 1 if the lit picture is dithered.
        dither: u32,
        _pad: u32,
        /// Weights of nodes and triangles in the `cost` channel.
        cost_weights: [f32; 2],
    }
    /// Character controller: its constants, and the state before a number of simulation steps. Positions are
    /// relative to the origin of the merged buffers. Lengths are in metres and times in seconds.
    WalkParams {
        /// Lowest point of the capsule.
        position: [f32; 3],
        radius: f32,
        velocity: [f32; 3],
        /// Height of the capsule.
        height: f32,
        /// Velocity along the ground that the controls request.
        desired_velocity: [f32; 3],
        /// Maximum height of a step that is climbed.
        step_height: f32,
        /// For finding a start: offset from `position` along the view to a point beyond the scene.
        view_offset: [f32; 3],
        /// Gap that the capsule keeps from surfaces.
        skin: f32,
        /// For finding a start: point above the centre of the scene.
        top: [f32; 3],
        /// Height of the ground plane below the scene; very low without one.
        floor: f32,
        /// Last known position of the point that the capsule stands on.
        ground_point: [f32; 3],
        gravity: f32,
        /// Barycentric weights of the second and third vertex of `ground_triangle` at `ground_point`.
        ground_weights: [f32; 2],
        /// Index in the merged index buffer of the triangle that the capsule stands on; `BVH_MISS` if it
        /// stands on none.
        ground_triangle: u32,
        /// 1 if the capsule stands on the ground.
        is_grounded: u32,
        /// Cosine of the steepest slope that can be walked on.
        walkable: f32,
        /// Speed of a jump; 0 if the character does not jump.
        jump: f32,
        /// Acceleration along the ground.
        acceleration: f32,
        /// Duration of a simulation step in seconds.
        step_secs: f32,
        /// Number of simulation steps, at most [`WALK_STEPS`].
        steps: u32,
        leaf_cutoff: u32,
        _pad: [u32; 2],
    }
    /// Character state after the simulation steps. Each field means the same as in [`WalkParams`].
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
    /// Parameters of the outlines of selected meshes.
    OutlineParams {
        /// Same as [`Frame::clip_from_offset`].
        clip_from_offset: [[f32; 4]; 4],
        eye: [f32; 3],
        /// Width of the line in pixels.
        width: f32,
        /// Display colours of the two outlines, linear.
        colors: [[f32; 4]; 2],
        /// Top-left corner of the picture in the target.
        origin: [u32; 2],
        /// Number of triangles in the merged buffers.
        triangle_count: u32,
        _pad: u32,
    }
    /// Picking ray, and the G-buffer pixel that it passes through.
    PickParams {
        origin: [f32; 3],
        t_min: f32,
        direction: [f32; 3],
        t_max: f32,
        eye: [f32; 3],
        leaf_cutoff: u32,
        /// Unit vector along the view.
        forward: [f32; 3],
        /// Radius in pixels around `pixel` in which points and lines are searched; 0 if there are none.
        reach: u32,
        /// Pixel of the G-buffer.
        pixel: [u32; 2],
        /// Number of triangles in the merged scene.
        triangle_count: u32,
        _pad: u32,
        /// Camera rays of the G-buffer.
        rays: ViewRays,
    }
    /// Closest hit of the ray of [`PickParams`].
    PickHit {
        /// Vertices of the triangle: `v0`, `v1` and `v2`.
        v0: [f32; 3],
        /// Hit distance in multiples of the length of the ray's direction.
        t: f32,
        v1: [f32; 3],
        /// Index of the mesh instance; `BVH_MISS` if no triangle is hit.
        mesh: u32,
        v2: [f32; 3],
        /// Index of the triangle in the merged index buffer.
        triangle: u32,
        /// Interpolated normal, not normalised.
        normal: [f32; 3],
        material: u32,
        uv: [f32; 2],
        /// Barycentric weights of the second and third vertex.
        barycentric: [f32; 2],
        /// Position on the point or line.
        segment_position: [f32; 3],
        /// Index of the point or line plus 1, counted after the triangles; 0 if no point or line is in front.
        segment: u32,
    }
    /// Parameters of the clear sky. The illuminance is the sun's above the atmosphere, in linear Rec. 709.
    SkyParams {
        /// Unit vector towards the centre of the sun.
        to_sun: [f32; 3],
        /// Factor on the aerosols. 1 is the published amount, which is very clear air.
        haze: f32,
        illuminance: [f32; 3],
        ground_albedo: f32,
    }
    /// Parameters for adding a frame to the mean of a supersampled picture.
    AccumulateParams {
        /// Same as [`TonemapParams::curve`].
        curve: u32,
        /// Index of the frame within the picture.
        index: u32,
        width: u32,
        /// Same as [`TonemapParams::transparent`].
        transparent: u32,
        /// Same as [`TonemapParams::dither`].
        dither: u32,
        /// Same as [`Frame::unlit_radiance`].
        unlit_radiance: f32,
    }
    /// Parameters of `noise`, the noise estimate of a supersampled picture.
    NoiseParams {
        width: u32,
        height: u32,
        /// Frames accumulated so far.
        frames: u32,
        /// Frames accumulated at the last estimate; 0 before the first estimate.
        frames_before: u32,
        /// Number of frames whose sum is shown: all frames of the picture, or 1 if their mean is shown.
        summed: u32,
        /// `summed` at the last estimate.
        summed_before: u32,
    }
    /// Parameters for comparing two pictures, A and B, in one target.
    CompareParams {
        /// Top-left corner in pixels of the target region that shows them.
        origin: [u32; 2],
        /// Size of the region in pixels.
        size: [u32; 2],
        /// Offset of the mapping from pixel centres in the region to texels of A. It is added after `scale_a`
        /// is applied.
        offset_a: [f32; 2],
        /// Offset of the mapping to texels of B.
        offset_b: [f32; 2],
        scale_a: f32,
        scale_b: f32,
        /// Position of the divider in pixels from the left or the top. B is shown beyond it.
        line: f32,
        is_horizontal: u32,
        /// 1 if the error is shown instead of the pictures.
        is_difference: u32,
        /// Factor on the error before it is mapped to a colour.
        gain: f32,
        /// 1 if the error is measured in linear light.
        is_linear: u32,
        /// Factor on B's linear radiance; 0 if B is sRGB-encoded.
        b_exposure: f32,
        /// Tone curve of B's linear radiance: a [`Tonemap`](crate::settings::Tonemap) as a number.
        b_curve: u32,
        _pad: u32,
    }
    /// Parameters for converting an equirectangular image, or a cube of another size, to a cube.
    EquirectParams {
        /// Width and height of the image in texels.
        size: [u32; 2],
        row_offset: u32,
        /// Samples along each side of a texel.
        samples: u32,
    }
    /// Range of rows of a level of the prefiltered cube.
    PrefilterParams {
        count: u32,
        /// First row of each face that is written.
        row_offset: u32,
    }
    /// Parameters of `channel`, which extracts a channel of the frame.
    ChannelParams {
        /// Origin of the frame's coordinates in world space.
        origin: [f32; 3],
        channel: u32,
        /// A NaN, which WGSL cannot express as a literal.
        nan: f32,
        /// 1 if volumes are visible.
        volumes: u32,
        _pad: [u32; 2],
    }
    /// Parameters for drawing boxes of BVH nodes.
    TreeBoxesParams {
        /// Same as [`Frame::clip_from_offset`].
        clip_from_offset: [[f32; 4]; 4],
        eye: [f32; 3],
        first_leaf: u32,
        /// Unit vector along the view.
        forward: [f32; 3],
        leaf_count: u32,
        /// Size in pixels of the picture that is drawn over.
        size: [f32; 2],
        /// 1 if `first_leaf` and `leaf_count` refer to leaves of the TLAS.
        over_meshes: u32,
        leaf_cutoff: u32,
        first_depth: u32,
        last_depth: u32,
        /// 1 if only the boxes of leaves are shown, at any depth up to `last_depth`.
        leaves_alone: u32,
        /// Half the line width in pixels.
        half_width: f32,
        /// Opacity of lines that are behind surfaces.
        hidden: f32,
        _pad: u32,
        pixel_side: [f32; 2],
        /// Top-left corner of the picture in the target.
        origin: [u32; 2],
        _pad2: [u32; 2],
    }
    /// Box of a BVH node that is drawn.
    TreeBox {
        lower: [f32; 3],
        /// Levels below the root.
        depth: u32,
        upper: [f32; 3],
        /// Drawing style: `TREE_BOX_BY_DEPTH`, `TREE_BOX_CURRENT`, or `TREE_BOX_LINE` from the lower to the
        /// upper corner.
        kind: u32,
    }
    /// Parameters of the mesh overlay: edges, vertices, normals and tangents.
    OverlayParams {
        /// Same as [`Frame::clip_from_offset`].
        clip_from_offset: [[f32; 4]; 4],
        eye: [f32; 3],
        /// Opacity of lines that are behind surfaces.
        hidden: f32,
        /// Unit vector along the view.
        forward: [f32; 3],
        /// Half the line width in pixels.
        half_width: f32,
        /// Size in pixels of the picture that is drawn over.
        size: [f32; 2],
        pixel_side: [f32; 2],
        /// Length of normals and tangents in metres.
        length: f32,
        first_vertex: u32,
        first_triangle: u32,
        _pad: u32,
        /// For each kind of line, the end of its range of instances, and the stride between the elements that
        /// are drawn.
        kinds: [[u32; 4]; OVERLAY_KINDS as usize],
    }
    /// Lens of the camera.
    DepthOfFieldParams {
        /// Diameter of the aperture in metres. The focal length is in metres too.
        aperture: f32,
        focal_length: f32,
        /// Focus distance along the view in metres; 0 focuses on the centre of the picture.
        focus: f32,
        /// Pixels per metre of the sensor.
        pixels_per_metre: f32,
    }
    /// Parameters of the texture viewer.
    TextureViewParams {
        /// Top-left corner of the view within the window, in pixels.
        origin: [f32; 2],
        /// Top-left corner of the view, in mip-0 texels.
        first: [f32; 2],
        /// Width and height of the texture in mip-0 texels.
        size: [f32; 2],
        texels_per_pixel: f32,
        level: u32,
        /// Bit mask of the visible channels: red, green, blue and alpha.
        channels: u32,
        /// 1 if values are sRGB-encoded for display, 0 if they are shown unchanged.
        encodes: u32,
        is_smooth: u32,
        /// Exposure in stops that is applied to the values.
        exposure_ev: f32,
    }
    /// Texel that is read back from a texture.
    TextureViewTexel {
        place: [u32; 2],
        level: u32,
        _pad: u32,
        value: [f32; 4],
    }
    /// Query for the traversal of a pixel's rays.
    RayPathQuery {
        /// Camera ray; see [`Ray`](canopy_bvh::accel::Ray).
        origin: [f32; 3],
        t_min: f32,
        direction: [f32; 3],
        t_max: f32,
        /// Pixel of the G-buffer.
        pixel: [u32; 2],
        /// 1 if the pixel's shadow rays are traced instead.
        shadow: u32,
        _pad: u32,
    }
    /// Totals of the traversal of a pixel's rays.
    RayPathHead {
        /// Number of traversal steps. Only the first `RAY_PATH_STEPS` are stored.
        steps: u32,
        nodes: u32,
        triangles: u32,
    }
    /// Traversal step of a ray through the BVHs.
    RayStep {
        /// For a node, the entry distances of its children's boxes, negative if missed. For a ray, its origin
        /// and `t_min`. For a triangle, the hit distance, negative if missed.
        values: [f32; 4],
        kind: u32,
        /// For a node, its index. For a triangle, its leaf index. For an any-hit test, 1 if the hit was
        /// accepted.
        number: u32,
        t_max: f32,
        _pad: u32,
        /// Rows of the node or the triangle; for a ray, its direction in the first row.
        rows: [[u32; 4]; 4],
    }
    /// Volume, and the parameters of its ray marching.
    VolumeParams {
        /// Transform from frame coordinates to voxel indices. Voxel i lies between i and i + 1 along each
        /// axis.
        voxel_from_world: [[f32; 4]; 4],
        world_from_voxel: [[f32; 4]; 4],
        /// Voxels along each axis.
        size: [f32; 3],
        /// Extinction per metre that a texel of 1 adds to the base.
        scale: f32,
        /// Single-scattering albedo.
        albedo: [f32; 3],
        /// Extinction per metre of a texel of 0.
        base: f32,
        /// Cells of the light grid along each axis.
        cells: [u32; 3],
        /// Number of lights that illuminate the volume.
        lights: u32,
        anisotropy: f32,
        /// Step length in voxels.
        step: f32,
        /// Emitted radiance per metre at the hottest voxel.
        emission: f32,
        /// Texel value of the isosurface; negative for none.
        isovalue: f32,
        /// Scale and offset from texel values to positions in the transfer function, from 0 to 1.
        transfer_scale: f32,
        transfer_base: f32,
        /// Bits `VOLUME_…`.
        flags: u32,
        _pad: u32,
        /// Black-body colours by temperature, from 0 to the temperature of the hottest voxel: a table of 128
        /// entries.
        blackbody: [[[f32; 4]; 32]; 4],
        /// Transfer function: colour and opacity by value, also 128 entries.
        transfer: [[[f32; 4]; 32]; 4],
    }
    /// Weights of nodes and triangles in the `cost` channel.
    CostRangeParams {
        weights: [f32; 2],
    }
}
