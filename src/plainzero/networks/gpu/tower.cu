// The residual tower of a network for small boards, from planes to the heads' 1x1 convolutions, in
// one launch: a board's activations stay in shared memory through all layers (sm_90a, bf16
// operands, float32 sums, wgmma).
//
// Sizes are macros; tower_layout.py computes and explains them, tower.py writes "wgmma.h":
//   HEIGHT WIDTH PLANES BLOCKS  the board, the input planes, the residual blocks
//   TILES                       of 64 channels, in every layer except the heads, which have 1
//   WARPGROUPS BOARDS           warpgroups of a block, and boards per warpgroup
//   PITCH BELOW BORDER          WIDTH + 1; BOARDS * PITCH; BELOW + 1: distances in rows, see below
//   COLUMNS PADDED              rows that hold cells, HEIGHT * BELOW, and those rounded up to 8
//   ROWS                        all rows of activations in a block's shared memory
//   STEM_STEPS                  products of 16 features per tap of the stem
//   STAGES                      stages of the ring through which the weights stream
//   REGISTERS                   per thread, at most
//   STAGGER                     nanoseconds between the starts of the warpgroups
//   DUMP                        1: the argument `dump` chooses a layer to write out
//   OMIT                        parts to leave out when timing the others: 1 storing a layer's
//                               results, 2 fetching weights, 4 planes and heads; normally 0
//
// Activations form a matrix. A row is one cell of one board, with its channels in chunks of 8 (16
// bytes). A warpgroup's boards are side by side as one wide board, and every board row ends in a
// zero column: cell (r, c) of board b is row (r * BOARDS + b) * PITCH + c of a buffer. BORDER zero
// rows precede and follow each buffer. Tap (dr, dc) of a convolution therefore reads the same
// matrix, dr * BELOW + dc rows further on. Borders are zeroed once and never written again.
//
//   shared memory   ring      STAGES x 8 KB of weights
//                   rows      border, then for each warpgroup: x, border, inner, border
//                   nowhere   128 bytes that receive stores for zero columns
//                   barriers  full[STAGES], of 8 bytes, and counts[STAGES], of 4
//
// A layer is D = A B with A the weights and B the activations, in products of 64 output channels,
// 16 input channels (a step) and PADDED cells. The weights of a product are 2 KB, [2 chunks][64
// output channels][8 input channels]. They arrive four to a stage, in the order in which they are
// used: the stem, nine taps for each convolution, the heads; within a tap, step by step, all output
// channels of a step together. Every tile of boards uses the same sequence.
//
// The stem reads few planes, so a row holds those of the cell's left neighbour, its own and its
// right neighbour's as 3 * PLANES features, and three taps remain: above, here, and below.

#include "wgmma.h"  // multiply_add(d, a, b, accumulate): m64 n(PADDED) k16

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr int STAGE_BYTES = 8192;
constexpr int PRODUCT_BYTES = 2048;
constexpr int CHANNELS = 64 * TILES;
constexpr int STEPS = CHANNELS / 16;
constexpr int CELLS = HEIGHT * WIDTH;
constexpr int GROUPS = PADDED / 8;  // of 8 cells: 4 sums per thread
constexpr int SUMS = PADDED / 2;
constexpr int STEM_PRODUCTS = 3 * STEM_STEPS * TILES;
constexpr int LAYER_PRODUCTS = 9 * STEPS * TILES;
constexpr int STEM_STAGES = (STEM_PRODUCTS + 3) / 4;
constexpr int TILE_STAGES = STEM_STAGES + BLOCKS * 2 * LAYER_PRODUCTS / 4 + STEPS / 4;
constexpr int THREADS = WARPGROUPS * 128;
constexpr int READERS = WARPGROUPS * 4;  // warps; each reads every stage
constexpr u32 ROWS_AT = STAGES * STAGE_BYTES;
constexpr u32 NOWHERE_AT = ROWS_AT + ROWS * CHANNELS * 2;
constexpr u32 BARRIERS_AT = NOWHERE_AT + 128;
constexpr int MOST_SPINS = 1 << 23;  // then a trap: an error is better than a hang

// ---- mbarriers, bulk copies and fences ------------------------------------------------------

__device__ __forceinline__ void init_barrier(u32 barrier, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void wait_for(u32 barrier, u32 parity) {
    for (int spins = 0;; ++spins) {
        u32 done;
        asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.b32 %0, 1, 0, p;\n}"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
        if (done) return;
        if (spins > MOST_SPINS) asm volatile("trap;");
    }
}

__device__ __forceinline__ void arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void copy_stage(u32 to, const void* from, u32 barrier) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(STAGE_BYTES)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        ::"r"(to), "l"(from), "r"(STAGE_BYTES), "r"(barrier)
        : "memory");
}

// Makes this thread's stores to shared memory visible to later wgmma and bulk copies.
__device__ __forceinline__ void publish_stores() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void join_warpgroup(int warpgroup) {
    asm volatile("bar.sync %0, 128;" ::"r"(warpgroup + 1) : "memory");
}

__device__ __forceinline__ void open_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int PENDING>
__device__ __forceinline__ void await_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// ---- addresses ------------------------------------------------------------------------------

// Byte address of 8 channels of a row, given from the start of all rows.
__device__ __forceinline__ u32 chunk_at(u32 rows, int row, int chunk) {
    return rows + (chunk * ROWS + row) * 16;
}

constexpr u32 GROUP_BYTES = 128;  // from a chunk to that of the 8th row after it
constexpr u32 TILE_BYTES = 8 * ROWS * 16;  // and to that of the 64th channel after it

// Descriptor fields: bits 0-13 start, 16-29 leading offset (between the two chunks of a step),
// 32-45 stride offset (between groups of 8 rows), each in units of 16 bytes; 62-63 the swizzle,
// none: rows of 128 bytes, swizzled, were no faster.
__device__ __forceinline__ u64 describe_weights(u32 product) {
    return (u64)(128u >> 4) << 32 | (u64)(1024u >> 4) << 16 | (product >> 4);
}

__device__ __forceinline__ u64 describe_cells(u32 rows, int row, int step) {
    u32 start = rows + (2 * step * ROWS + row) * 16;
    return (u64)(128u >> 4) << 32 | (u64)ROWS << 16 | start >> 4;
}

// Rows from a cell to the one that a tap reads: of the stem's three, of a convolution's nine, of
// the heads' one.
template <int KIND>
__device__ __forceinline__ constexpr int shift_of(int tap) {
    return KIND == 0 ? (tap - 1) * BELOW : KIND == 1 ? (tap / 3 - 1) * BELOW + tap % 3 - 1 : 0;
}

// ---- a layer --------------------------------------------------------------------------------

// A warp's position in the stream of weights. The last reader of a stage fetches the stage that is
// STAGES further on into its slot, so no warp is dedicated to fetching.
struct Ring {
    const char* weights;
    u32 base, barriers, slot, parity;
    int ahead, left;  // the next stage to fetch into this slot, and the number of stages left

    __device__ __forceinline__ u32 full() const { return barriers + 8 * slot; }
    __device__ __forceinline__ u32 count() const { return barriers + 8 * STAGES + 4 * slot; }
    __device__ __forceinline__ u32 stage() const { return base + slot * STAGE_BYTES; }
    __device__ __forceinline__ void advance() {
        if (++slot == STAGES) slot = 0, parity ^= 1;
        if (++ahead == TILE_STAGES) ahead = 0;
        --left;
    }
    __device__ __forceinline__ void fetch() const {
        if (OMIT & 2) {
            arrive(full());
        } else {
            copy_stage(stage(), weights + (size_t)ahead * STAGE_BYTES, full());
        }
    }
    // Called by one lane of each reader, once the products of the stage are done.
    __device__ __forceinline__ void give_back() const {
        u32 before;
        asm volatile("atom.acq_rel.cta.shared::cta.inc.u32 %0, [%1], %2;"
                     : "=r"(before)
                     : "r"(count()), "r"(READERS - 1)
                     : "memory");
        if (before == READERS - 1 && left > 0) fetch();
    }
};

// The sums of a layer over the buffer that begins at `row`. KIND 0: the stem, 1: a 3x3
// convolution, 2: the heads. A stage is released once its products are done, which
// is known after those of the next stage are issued and all earlier ones have completed.
template <int KIND>
__device__ __forceinline__ void multiply(float (&sums)[TILES][SUMS], u32 rows, int row,
                                         Ring& ring) {
    constexpr int USED = KIND == 2 ? 1 : TILES;
    constexpr int STEPS_A_TAP = KIND == 0 ? STEM_STEPS : STEPS;
    constexpr int PRODUCTS = KIND == 0 ? STEM_PRODUCTS : KIND == 1 ? LAYER_PRODUCTS : STEPS;
    const bool signals = threadIdx.x % 32 == 0;
    Ring before = ring;
#pragma unroll
    for (int stage = 0; stage < (PRODUCTS + 3) / 4; ++stage) {
        wait_for(ring.full(), ring.parity);
        open_products();
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int product = 4 * stage + i;
            if (product < PRODUCTS) {
                const int tile = product % USED, step = product / USED;
                const int shift = shift_of<KIND>(step / STEPS_A_TAP);
                multiply_add(sums[tile], describe_weights(ring.stage() + i * PRODUCT_BYTES),
                             describe_cells(rows, row + shift, step % STEPS_A_TAP), step != 0);
            }
        }
        commit_products();
        if (stage > 0) {
            await_products<1>();
            if (signals) before.give_back();
        }
        before = ring;
        ring.advance();
    }
    await_products<0>();
#pragma unroll
    for (int i = 0; i < USED * SUMS; ++i) {
        asm volatile("" : "+f"(sums[i / SUMS][i % SUMS])::"memory");
    }
    if (signals) before.give_back();
}

// A tile's sums to bf16, with bias and ReLU, and what the target held added before if ADDS. Thread
// (g, t) = (lane / 4, lane % 4) of warp w holds sums[4j + 2h + e] of channel 16w + 8h + g and cell
// 8j + 2t + e, which is what a transposing stmatrix takes. Lane l gives the address of cell
// 8(j + l/16) + l%8, chunk 2w + l/8%2; bit j/2 of `skips` sends a zero column's to `nowhere`.
template <bool ADDS>
__device__ __forceinline__ void finish(float (&sums)[SUMS], u32 target, u32 nowhere, u32 skips,
                                       float low_bias, float high_bias) {
    if ((OMIT & 1) && low_bias < 1e30f) return;  // always true; the compiler must keep the products
    u32 next[4] = {0, 0, 0, 0};
    if (ADDS) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(next[0]), "=r"(next[1]), "=r"(next[2]), "=r"(next[3])
                     : "r"(skips & 1 ? nowhere : target)
                     : "memory");
    }
#pragma unroll
    for (int j = 0; j < GROUPS; j += 2) {
        const u32 address = skips >> (j / 2) & 1 ? nowhere : target + j * GROUP_BYTES;
        u32 held[4], packed[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) held[i] = next[i];
        if (ADDS && j + 2 < GROUPS) {  // with an odd number of groups, the last reads nowhere
            const u32 ahead =
                skips >> (j / 2 + 1) & 1 ? nowhere : target + (j + 2) * GROUP_BYTES;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(next[0]), "=r"(next[1]), "=r"(next[2]), "=r"(next[3])
                         : "r"(ahead)
                         : "memory");
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {  // i = 2 (j of the pair) + h
            const int at = 4 * j + 2 * i;
            float even = 0.0f, odd = 0.0f;
            if (at < SUMS) {
                even = sums[at] + (i % 2 ? high_bias : low_bias);
                odd = sums[at + 1] + (i % 2 ? high_bias : low_bias);
            }
            if (ADDS) {
                even += __uint_as_float(held[i] << 16);
                odd += __uint_as_float(held[i] & 0xffff0000u);
            }
            asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(packed[i]) : "f"(odd), "f"(even));
        }
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         address),
                     "r"(packed[0]), "r"(packed[1]), "r"(packed[2]), "r"(packed[3])
                     : "memory");
    }
}

template <int USED, bool ADDS>
__device__ __forceinline__ void finish_tiles(float (&sums)[TILES][SUMS], u32 target, u32 nowhere,
                                             u32 skips, const float (&low)[TILES],
                                             const float (&high)[TILES]) {
#pragma unroll
    for (int i = 0; i < USED; ++i) {
        finish<ADDS>(sums[i], target + i * TILE_BYTES, nowhere, skips, low[i], high[i]);
    }
}

// ---- in and out -----------------------------------------------------------------------------

// Row of a cell, counted through the warpgroup's boards, in its buffer.
__device__ __forceinline__ int row_of(int cell) {
    const int board = cell / CELLS, rest = cell % CELLS;
    return (rest / WIDTH * BOARDS + board) * PITCH + rest % WIDTH;
}

// The warpgroup's planes as bf16 rows of features, (neighbour, plane); zeros beyond the board's
// edges and for boards beyond the batch.
__device__ __forceinline__ void load_planes(const float* planes, int boards, u32 rows, int row) {
#pragma unroll 2
    for (int start = 0; start < BOARDS * CELLS; start += 128) {
        const int cell = start + threadIdx.x % 128;
        if (cell >= BOARDS * CELLS) continue;
        const float* from = planes + cell / CELLS * (PLANES * CELLS) + cell % CELLS;
        const bool is_given = cell < boards * CELLS;
        const int column = cell % WIDTH;
        auto feature = [&](int index) {
            const int neighbour = index / PLANES - 1;
            const bool is_inside = (unsigned)(column + neighbour) < WIDTH;
            if (!is_given || index >= 3 * PLANES || !is_inside) return 0.0f;
            return from[index % PLANES * CELLS + neighbour];
        };
#pragma unroll
        for (int chunk = 0; chunk < 2 * STEM_STEPS; ++chunk) {
            u32 packed[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float even = feature(8 * chunk + 2 * i), odd = feature(8 * chunk + 2 * i + 1);
                asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed[i]) : "f"(odd), "f"(even));
            }
            asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(
                             chunk_at(rows, row + row_of(cell), chunk)),
                         "r"(packed[0]), "r"(packed[1]), "r"(packed[2]), "r"(packed[3])
                         : "memory");
        }
    }
}

// The first channels of a buffer's cells to global memory, [board][cell][chunk]; `first` is the
// warpgroup's first board.
template <int CHUNKS>
__device__ __forceinline__ void store_cells(uint4* out, int first, int boards, u32 rows, int row) {
    uint4* const to = out + (size_t)first * CELLS * CHUNKS;
    const int most = (boards < BOARDS ? boards : BOARDS) * CELLS * CHUNKS;
#pragma unroll 4
    for (int i = threadIdx.x % 128; i < most; i += 128) {
        uint4 channels;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(channels.x), "=r"(channels.y), "=r"(channels.z), "=r"(channels.w)
                     : "r"(chunk_at(rows, row + row_of(i / CHUNKS), i % CHUNKS))
                     : "memory");
        to[i] = channels;
    }
}

// ---- the kernel -----------------------------------------------------------------------------

__device__ __forceinline__ void evaluate_tiles(const float* planes, const float* biases, uint4* out,
                                               int batch, int tiles, int dump, u32 shared,
                                               Ring ring) {
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);  // uniform, so addresses are too
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const u32 rows = shared + ROWS_AT;
    const int x = BORDER + 2 * warpgroup * (PADDED + BORDER), inner = x + PADDED + BORDER;
    const int my_cell = 8 * (lane / 16) + lane % 8, my_chunk = 2 * warp + lane / 8 % 2;
    const u32 x_target = chunk_at(rows, x + my_cell, my_chunk);
    const u32 inner_target = chunk_at(rows, inner + my_cell, my_chunk);
    const u32 nowhere = shared + NOWHERE_AT + (x_target & 0x70);  // the bank it would have had
    u32 skips = 0;
    for (int j = 0; j < GROUPS; j += 2) {
        const int cell = 8 * j + my_cell;
        if (cell % PITCH == WIDTH || cell >= COLUMNS) skips |= 1u << (j / 2);
    }
    biases += 16 * warp + lane / 4;
    float sums[TILES][SUMS];
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int first = (tile * WARPGROUPS + warpgroup) * BOARDS, boards = batch - first;
        const float* bias = biases;
        float low[TILES], high[TILES];
        int layer = 0;
        auto begin_layer = [&] {  // early, so that the products hide the latency
#pragma unroll
            for (int i = 0; i < TILES; ++i) low[i] = bias[64 * i], high[i] = bias[64 * i + 8];
        };
        auto end_layer = [&](int row) {
            publish_stores();
            join_warpgroup(warpgroup);
            if (DUMP && layer == dump) store_cells<8 * TILES>(out, first, boards, rows, row);
            ++layer;
            bias += CHANNELS;
        };
        if (!(OMIT & 4)) load_planes(planes + (size_t)first * PLANES * CELLS, boards, rows, inner);
        publish_stores();
        join_warpgroup(warpgroup);
        begin_layer();
        multiply<0>(sums, rows, inner, ring);
        finish_tiles<TILES, false>(sums, x_target, nowhere, skips, low, high);
        end_layer(x);
#pragma unroll 1
        for (int block = 0; block < BLOCKS; ++block) {
            begin_layer();
            multiply<1>(sums, rows, x, ring);
            finish_tiles<TILES, false>(sums, inner_target, nowhere, skips, low, high);
            end_layer(inner);
            begin_layer();
            multiply<1>(sums, rows, inner, ring);
            finish_tiles<TILES, true>(sums, x_target, nowhere, skips, low, high);
            end_layer(x);
        }
        begin_layer();
        multiply<2>(sums, rows, x, ring);
        finish_tiles<1, false>(sums, inner_target, nowhere, skips, low, high);
        join_warpgroup(warpgroup);
        if (!(OMIT & 4) && (!DUMP || layer == dump)) {
            store_cells<8>(out, first, boards, rows, inner);
        }
        join_warpgroup(warpgroup);  // before the next planes overwrite what was read
    }
}

// planes [batch, PLANES, HEIGHT, WIDTH] float32; weights [TILE_STAGES][4][2][64][8] bf16;
// biases [2 + 2 * BLOCKS][CHANNELS] float32; out [batch, CELLS, 64, of `dump` CHANNELS] bf16.
extern "C" __global__ void __maxnreg__(REGISTERS)
    evaluate_tower(const float* planes, const char* weights, const float* biases, uint4* out,
                   int batch, int tiles, int dump) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const u32 shared = (u32)__cvta_generic_to_shared(memory);
    const int stages = (tiles - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x * TILE_STAGES;
    Ring ring = {weights, shared, shared + BARRIERS_AT, 0, 0, 0, stages};
    for (u32 at = ROWS_AT + 16 * threadIdx.x; at < BARRIERS_AT; at += 16 * THREADS) {
        *reinterpret_cast<uint4*>(memory + at) = make_uint4(0, 0, 0, 0);
    }
    publish_stores();
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            init_barrier(ring.barriers + 8 * stage, 1);
            *reinterpret_cast<u32*>(memory + BARRIERS_AT + 8 * STAGES + 4 * stage) = 0;
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        publish_stores();
    }
    __syncthreads();
    Ring first = ring;  // fills the ring
    for (int stage = 0; stage < STAGES; ++stage) {
        if (threadIdx.x == 0 && first.left > 0) first.fetch();
        first.advance();
    }
    ring.ahead = first.ahead, ring.left = first.left;
#if STAGGER
    if (threadIdx.x >= 128) __nanosleep(STAGGER * (threadIdx.x / 128));
#endif
    evaluate_tiles(planes, biases, out, batch, tiles, dump, shared, ring);
}
