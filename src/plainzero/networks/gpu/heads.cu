// Both heads of a network for small boards, from the channels that tower.cu wrote to logits and
// values, in one launch (bf16 operands, float32 sums, mma.sync). A block is one warp of at most 128
// registers per thread, without shared memory, so it fits on a multiprocessor beside the tower.
//
// Sizes are macros; heads_layout.py computes them (`HeadsLayout`):
//   CELLS ACTIONS               of the board, and of the game
//   OUTPUTS                     of the value head's last layer
//   IS_WDL                      1: outputs are win, draw, loss, and the value is the probability
//                               of a win minus that of a loss; 0: tanh of each output is a value
//   BOARD_TILES                 of 8 boards, per warp
//   VALUE_TILES                 of 16 units, of the value head's hidden layer
//   POLICY_TILES POLICY_GROUPS  tiles of 16 actions per group, and groups
//   VALUE_DEPTH POLICY_DEPTH    cells that a warp loads ahead
//
// Each head is a product D = A B of its weights, units x (cell, channel), and the features, (cell,
// channel) x boards, in which the policy has channels 0 to 31 of a cell and the value 32 to 63. A
// warp takes one group of units, the value head's or one of the policy's, and a slice of the cells:
// grid.x counts tiles of boards, grid.y slices, grid.z groups, the value head's first. If there
// are several slices, each warp leaves its sums in `partials`, and the last one to arrive adds
// all in order, so that equal batches give equal results whichever it is.
//
// Thread (g, t) = (lane / 4, lane % 4) of a product of 16 channels holds of B, for board g, numbers
// 2t, 2t + 1, 2t + 8 and 2t + 9. Any order of channels works if it is the same in A and B, so a
// thread loads 8 neighbours, 16 bytes, for the two products of a cell: channel 8t + 4s + 2p + e is
// number 8p + 2t + e of product s. The weights lie in the order in which a thread holds them:
//
//   weights  bf16 [group][cell][tile][s][lane (g, t)][p][h][e], the value head's group first: of
//            unit 16 tile + 8h + g and channel 8t + 4s + 2p + e
//   numbers  float32: bias of hidden units [HIDDEN]; last layer [OUTPUTS][HIDDEN]; bias of actions
//            [POLICY_GROUPS * POLICY_TILES * 16]; bias of the last layer [OUTPUTS]

typedef unsigned int u32;

constexpr int BOARDS = 8 * BOARD_TILES;
constexpr int CHUNKS = 8;  // of a cell: 8 channels, 16 bytes each; the policy's 4, the value's 4
constexpr int HIDDEN = 16 * VALUE_TILES;
constexpr int MOST_TILES = VALUE_TILES > POLICY_TILES ? VALUE_TILES : POLICY_TILES;
constexpr int LAST_AT = HIDDEN;
constexpr int ACTIONS_AT = LAST_AT + OUTPUTS * HIDDEN;
constexpr int OUTPUTS_AT = ACTIONS_AT + 16 * POLICY_GROUPS * POLICY_TILES;

struct Place {  // of a thread in all of the work
    int first;  // board of its warp
    int g, t;

    // The sums it holds: thread (g, t) has sums[tile][n][2h + e] of unit 16 tile + 8h + g and of
    // board 8n + 2t + e, which is counted here as 2n + e.
    __device__ __forceinline__ int board(int i) const { return first + i / 2 * 8 + 2 * t + i % 2; }
};

// ---- products -------------------------------------------------------------------------------

// What a thread multiplies for one cell.
template <int TILES>
struct Stage {
    uint4 boards[BOARD_TILES], units[TILES][2];
};

// Read once, so it must not evict weights from the small cache.
__device__ __forceinline__ uint4 load_channels(const uint4* from) {
    uint4 channels;
    asm("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(channels.x), "=r"(channels.y), "=r"(channels.z), "=r"(channels.w)
        : "l"(from));
    return channels;
}

__device__ __forceinline__ void multiply_add(float (&d)[4], uint4 a, u32 low, u32 high) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(low), "r"(high));
}

// The sums of one group's units over `cells` cells. Registers are reloaded as soon as they were
// used, with the data DEPTH cells further on. `offsets` are those of the thread's boards in the
// features.
template <int TILES, int DEPTH>
__device__ __forceinline__ void sum_cells(float (&sums)[TILES][BOARD_TILES][4],
                                          const uint4* features, u32 (&offsets)[BOARD_TILES],
                                          const uint4* weights, int cells) {
    Stage<TILES> stages[DEPTH];
    auto load_board = [&](Stage<TILES>& stage, int n) {
        stage.boards[n] = load_channels(features + offsets[n]);
        offsets[n] += CHUNKS;
    };
    auto load_units = [&](Stage<TILES>& stage, int tile) {
        stage.units[tile][0] = __ldg(weights + 64 * tile);
        stage.units[tile][1] = __ldg(weights + 64 * tile + 32);
    };
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
        if (d >= cells) break;
#pragma unroll
        for (int n = 0; n < BOARD_TILES; ++n) load_board(stages[d], n);
#pragma unroll
        for (int tile = 0; tile < TILES; ++tile) load_units(stages[d], tile);
        weights += 64 * TILES;
    }
#pragma unroll 1
    for (int cell = 0; cell < cells; cell += DEPTH) {
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            if (cell + d >= cells) break;
            Stage<TILES>& stage = stages[d];
            const bool has_next = cell + d + DEPTH < cells;
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile) {
#pragma unroll
                for (int n = 0; n < BOARD_TILES; ++n) {
                    multiply_add(sums[tile][n], stage.units[tile][0], stage.boards[n].x,
                                 stage.boards[n].y);
                }
#pragma unroll
                for (int n = 0; n < BOARD_TILES; ++n) {
                    multiply_add(sums[tile][n], stage.units[tile][1], stage.boards[n].z,
                                 stage.boards[n].w);
                }
                if (has_next) load_units(stage, tile);
            }
            if (has_next) {
#pragma unroll
                for (int n = 0; n < BOARD_TILES; ++n) load_board(stage, n);
            }
            weights += 64 * TILES;
        }
    }
}

// Whoever sees what this thread writes later also sees what it wrote before, and vice versa.
__device__ __forceinline__ void order_memory() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// Whether this warp is the last of its group's slices; then its sums are those of all slices.
template <int TILES>
__device__ __forceinline__ bool join_slices(float (&sums)[TILES][BOARD_TILES][4],
                                            float4* partials, u32* arrivals) {
    const u32 slices = gridDim.y, group = blockIdx.x * gridDim.z + blockIdx.z;
    if (slices == 1) return true;
    constexpr u32 SLICE = MOST_TILES * BOARD_TILES * 32;
    float4* from = partials + (size_t)(group * slices) * SLICE + threadIdx.x;
#pragma unroll
    for (int i = 0; i < TILES * BOARD_TILES; ++i) {
        float(&d)[4] = sums[i / BOARD_TILES][i % BOARD_TILES];
        __stcg(from + blockIdx.y * SLICE + 32 * i, make_float4(d[0], d[1], d[2], d[3]));
    }
    order_memory();
    __syncwarp();
    u32 before = 0;
    if (threadIdx.x == 0) before = atomicInc(arrivals + group, slices - 1);  // the last resets it
    if (__shfl_sync(~0u, before, 0) != slices - 1) return false;
    order_memory();
    __syncwarp();
#pragma unroll
    for (int i = 0; i < TILES * BOARD_TILES * 4; ++i) {
        sums[i / 4 / BOARD_TILES][i / 4 % BOARD_TILES][i % 4] = 0.0f;
    }
#pragma unroll 1
    for (u32 slice = 0; slice < slices; ++slice, from += SLICE) {
#pragma unroll
        for (int i = 0; i < TILES * BOARD_TILES; ++i) {
            float(&d)[4] = sums[i / BOARD_TILES][i % BOARD_TILES];
            const float4 other = __ldcg(from + 32 * i);
            d[0] += other.x, d[1] += other.y, d[2] += other.z, d[3] += other.w;
        }
    }
    return true;
}

// ---- logits and values ----------------------------------------------------------------------

__device__ __forceinline__ void write_logits(const float (&sums)[POLICY_TILES][BOARD_TILES][4],
                                             const Place& place, const float* numbers,
                                             float* logits, int batch) {
#pragma unroll
    for (int half = 0; half < 2 * POLICY_TILES; ++half) {
        const int action = 16 * POLICY_TILES * (blockIdx.z - 1) + 8 * half + place.g;
        const float bias = __ldg(numbers + ACTIONS_AT + action);
#pragma unroll
        for (int i = 0; i < 2 * BOARD_TILES; ++i) {
            const int board = place.board(i);
            if (board < batch && action < ACTIONS) {
                const float sum = sums[half / 2][i / 2][half % 2 * 2 + i % 2];
                logits[(size_t)board * ACTIONS + action] = sum + bias;
            }
        }
    }
}

// An output of the last layer for each of a thread's boards; the same in all threads of a t.
__device__ __forceinline__ void compute_output(float (&found)[2 * BOARD_TILES],
                                               const float (&hidden)[VALUE_TILES][BOARD_TILES][4],
                                               const Place& place, const float* numbers,
                                               int output) {
    const float* const weights = numbers + LAST_AT + output * HIDDEN + place.g;
#pragma unroll
    for (int i = 0; i < 2 * BOARD_TILES; ++i) found[i] = 0.0f;
#pragma unroll
    for (int half = 0; half < 2 * VALUE_TILES; ++half) {
        const float weight = __ldg(weights + 8 * half);
#pragma unroll
        for (int i = 0; i < 2 * BOARD_TILES; ++i) {
            found[i] += weight * hidden[half / 2][i / 2][half % 2 * 2 + i % 2];
        }
    }
    const float bias = __ldg(numbers + OUTPUTS_AT + output);
#pragma unroll
    for (int i = 0; i < 2 * BOARD_TILES; ++i) {
#pragma unroll
        for (int apart = 4; apart < 32; apart *= 2) {
            found[i] += __shfl_xor_sync(~0u, found[i], apart);
        }
        found[i] += bias;
    }
}

// One number for each of a thread's boards, of which thread g of a t writes number g.
__device__ __forceinline__ void write_value(const float (&found)[2 * BOARD_TILES],
                                            const Place& place, float* values, int stride,
                                            int batch) {
#pragma unroll
    for (int i = 0; i < 2 * BOARD_TILES; ++i) {
        const int board = place.board(i);
        if (place.g == i && board < batch) values[(size_t)board * stride] = found[i];
    }
}

__device__ __forceinline__ void write_values(float (&sums)[VALUE_TILES][BOARD_TILES][4],
                                             const Place& place, const float* numbers,
                                             float* values, int batch) {
#pragma unroll
    for (int half = 0; half < 2 * VALUE_TILES; ++half) {
        const float bias = __ldg(numbers + 8 * half + place.g);
#pragma unroll
        for (int i = 0; i < 2 * BOARD_TILES; ++i) {
            float& unit = sums[half / 2][i / 2][half % 2 * 2 + i % 2];
            unit += bias;
            unit = unit < 0.0f ? 0.0f : unit;  // NaN stays NaN
        }
    }
#if IS_WDL
    float win[2 * BOARD_TILES], draw[2 * BOARD_TILES], loss[2 * BOARD_TILES];
    compute_output(win, sums, place, numbers, 0);
    compute_output(draw, sums, place, numbers, 1);
    compute_output(loss, sums, place, numbers, 2);
#pragma unroll
    for (int i = 0; i < 2 * BOARD_TILES; ++i) {
        const float most = fmaxf(win[i], fmaxf(draw[i], loss[i]));
        const float wins = expf(win[i] - most), losses = expf(loss[i] - most);
        win[i] = (wins - losses) / (wins + expf(draw[i] - most) + losses);
    }
    write_value(win, place, values, 1, batch);
#else
#pragma unroll 1
    for (int output = 0; output < OUTPUTS; ++output) {
        float found[2 * BOARD_TILES];
        compute_output(found, sums, place, numbers, output);
#pragma unroll
        for (int i = 0; i < 2 * BOARD_TILES; ++i) found[i] = tanhf(found[i]);
        write_value(found, place, values + output, OUTPUTS, batch);
    }
#endif
}

// ---- the kernel -----------------------------------------------------------------------------

// features [batch, CELLS, 64] bf16; weights and numbers: see above; partials [grid.x, grid.z,
// grid.y, MOST_TILES * BOARD_TILES, 32] float4, if grid.y is not 1; arrivals [grid.x, grid.z],
// zero, and zero again afterwards; logits [batch, ACTIONS] and values [batch, OUTPUTS, or 1 of
// win, draw, loss] float32.
extern "C" __global__ void __maxnreg__(128)
    read_heads(const uint4* __restrict__ features, const uint4* __restrict__ weights,
               const float* __restrict__ numbers, float4* partials, u32* arrivals, float* logits,
               float* values, int batch) {
    const Place place = {(int)blockIdx.x * BOARDS, (int)threadIdx.x / 4, (int)threadIdx.x % 4};
    const bool is_value = blockIdx.z == 0;
    const int first = CELLS * blockIdx.y / gridDim.y;
    const int cells = CELLS * (blockIdx.y + 1) / gridDim.y - first;
    u32 offsets[BOARD_TILES];
#pragma unroll
    for (int n = 0; n < BOARD_TILES; ++n) {  // boards beyond the batch are read, but not written
        const int board = min(place.first + 8 * n + place.g, batch - 1);
        offsets[n] = ((u32)board * CELLS + first) * CHUNKS + (is_value ? 4 : 0) + place.t;
    }
    weights += threadIdx.x;
    if (is_value) {
        weights += first * VALUE_TILES * 64;
        float sums[VALUE_TILES][BOARD_TILES][4] = {};
        sum_cells<VALUE_TILES, VALUE_DEPTH>(sums, features, offsets, weights, cells);
        if (join_slices(sums, partials, arrivals)) {
            write_values(sums, place, numbers, values, batch);
        }
    } else {
        weights += CELLS * 64 * (VALUE_TILES + (blockIdx.z - 1) * POLICY_TILES);
        weights += first * POLICY_TILES * 64;
        float sums[POLICY_TILES][BOARD_TILES][4] = {};
        sum_cells<POLICY_TILES, POLICY_DEPTH>(sums, features, offsets, weights, cells);
        if (join_slices(sums, partials, arrivals)) {
            write_logits(sums, place, numbers, logits, batch);
        }
    }
}
