// Heads that follow the board, from the channels that tower.cu wrote to logits and values, in one
// launch. A block is one warp of at most 128 registers per thread, without shared memory, so it
// fits on a multiprocessor beside the tower; it computes one board.
//
// Sizes are macros; board_heads.py computes them:
//   CELLS ACTIONS  of the board, and of the game
//   KINDS          of actions of a cell
//   OTHERS         actions beside the board, such as a pass
//   OUTPUTS        of the value head's last layer
//   IS_WDL         1: outputs are win, draw, loss, and the value is the probability of a win minus
//                  that of a loss; 0: tanh of each output is a value
//
// A cell has 64 channels, the policy's 32 and then the value's, in 8 chunks of 8 (16 bytes). Lane
// 8b + q reads chunk q of cells b, b + 4, b + 8, …: four cells at a time. The four lanes of a
// cell's policy channels add up its logits. All lanes sum up their channels over the board, and
// keep the maximum; activations are never negative, so that missing cells count as zero.
//
//   numbers  float32: kinds [KINDS][32], their bias [KINDS]; others [OTHERS][64], bias [OTHERS];
//            hidden units [64 inputs][64 units], bias [64]; last layer [OUTPUTS][64], bias
//            [OUTPUTS]. The 64 inputs are the mean of 32 channels, then their maximum.
//   actions  int32: [CELLS][KINDS], -1 for none; then [OTHERS]

constexpr int DEPTH = 8;  // groups of four cells that are loaded together
constexpr int HIDDEN = 64;
constexpr int KINDS_BIAS_AT = KINDS * 32;
constexpr int OTHERS_AT = KINDS_BIAS_AT + KINDS;
constexpr int OTHERS_BIAS_AT = OTHERS_AT + OTHERS * 64;
constexpr int HIDDEN_AT = OTHERS_BIAS_AT + OTHERS;
constexpr int HIDDEN_BIAS_AT = HIDDEN_AT + 64 * HIDDEN;
constexpr int LAST_AT = HIDDEN_BIAS_AT + HIDDEN;
constexpr int LAST_BIAS_AT = LAST_AT + OUTPUTS * HIDDEN;
constexpr bool IS_HELD = KINDS <= 4;  // the kinds' weights fit into registers
constexpr int HELD = IS_HELD ? KINDS : 1;

struct Chunk {  // 8 channels
    float x[8];
};

// Read once, so it must not evict weights from the small cache.
__device__ __forceinline__ uint4 load_channels(const uint4* from) {
    uint4 channels;
    asm("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(channels.x), "=r"(channels.y), "=r"(channels.z), "=r"(channels.w)
        : "l"(from));
    return channels;
}

__device__ __forceinline__ Chunk to_floats(uint4 loaded) {
    const unsigned int words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
    Chunk chunk;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        chunk.x[2 * i] = __uint_as_float(words[i] << 16);
        chunk.x[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
    return chunk;
}

__device__ __forceinline__ Chunk load_weights(const float* from) {
    Chunk chunk;
#pragma unroll
    for (int i = 0; i < 8; ++i) chunk.x[i] = __ldg(from + i);
    return chunk;
}

__device__ __forceinline__ float dot(const Chunk& a, const Chunk& b) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += a.x[i] * b.x[i];
    return sum;
}

// The sum over the four lanes of one head's chunks of a cell.
__device__ __forceinline__ float add_chunks(float sum) {
    sum += __shfl_xor_sync(~0u, sum, 1);
    return sum + __shfl_xor_sync(~0u, sum, 2);
}

__device__ __forceinline__ float add_lanes(float sum) {
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    return sum;
}

// An output of the value head's last layer, the same in all lanes.
__device__ __forceinline__ float compute_output(const float (&units)[2], const float* numbers,
                                                int lane, int output) {
    const float* const weights = numbers + LAST_AT + output * HIDDEN + lane;
    const float sum = units[0] * __ldg(weights) + units[1] * __ldg(weights + 32);
    return add_lanes(sum) + __ldg(numbers + LAST_BIAS_AT + output);
}

// Hidden units `lane` and `lane` + 32, from the pooled channels that lanes 4 to 7 hold.
__device__ __forceinline__ void compute_hidden(float (&units)[2], const Chunk& mean,
                                               const Chunk& most, const float* numbers, int lane) {
    units[0] = __ldg(numbers + HIDDEN_BIAS_AT + lane);
    units[1] = __ldg(numbers + HIDDEN_BIAS_AT + lane + 32);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const float pooled[2] = {__shfl_sync(~0u, mean.x[i], 4 + q),
                                     __shfl_sync(~0u, most.x[i], 4 + q)};
#pragma unroll
            for (int part = 0; part < 2; ++part) {
                const float* const weights =
                    numbers + HIDDEN_AT + (32 * part + 8 * q + i) * HIDDEN + lane;
                units[0] += pooled[part] * __ldg(weights);
                units[1] += pooled[part] * __ldg(weights + 32);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) units[i] = units[i] < 0.0f ? 0.0f : units[i];  // NaN stays NaN
}

// features [batch, CELLS, 64] bf16; numbers and actions: see above; logits [batch, ACTIONS] and
// values [batch, OUTPUTS, or 1 of win, draw, loss] float32; one block per board.
extern "C" __global__ void __maxnreg__(128)
    read_board_heads(const uint4* __restrict__ features, const float* __restrict__ numbers,
                     const int* __restrict__ actions, float* logits, float* values) {
    const int lane = threadIdx.x, chunk = lane % 8, beside = lane / 8, quarter = chunk % 4;
    features += (size_t)blockIdx.x * CELLS * 8;
    logits += (size_t)blockIdx.x * ACTIONS;
    Chunk mean = {}, most = {}, held[HELD];
    if (IS_HELD) {
#pragma unroll
        for (int kind = 0; kind < HELD; ++kind) {
            held[kind] = load_weights(numbers + kind * 32 + 8 * quarter);
        }
    }
#pragma unroll 1
    for (int first = 0; first < CELLS; first += 4 * DEPTH) {
        uint4 loaded[DEPTH];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            const int cell = first + 4 * d + beside;
            loaded[d] = make_uint4(0, 0, 0, 0);
            if (cell < CELLS) loaded[d] = load_channels(features + cell * 8 + chunk);
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            const int cell = first + 4 * d + beside;
            const Chunk here = to_floats(loaded[d]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                mean.x[i] += here.x[i];
                most.x[i] = fmaxf(most.x[i], here.x[i]);
            }
#pragma unroll(HELD)
            for (int kind = 0; kind < KINDS; ++kind) {
                if (!IS_HELD) held[0] = load_weights(numbers + kind * 32 + 8 * quarter);
                const float logit = add_chunks(dot(here, held[IS_HELD ? kind : 0]));
                if (cell < CELLS && chunk == kind % 4) {
                    const int action = __ldg(actions + cell * KINDS + kind);
                    if (action >= 0) logits[action] = logit + __ldg(numbers + KINDS_BIAS_AT + kind);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int apart = 8; apart < 32; apart *= 2) {
            mean.x[i] += __shfl_xor_sync(~0u, mean.x[i], apart);
            most.x[i] = fmaxf(most.x[i], __shfl_xor_sync(~0u, most.x[i], apart));
        }
        mean.x[i] *= 1.0f / CELLS;
    }
#pragma unroll 1
    for (int other = 0; other < OTHERS; ++other) {
        const float* const weights = numbers + OTHERS_AT + other * 64 + 8 * quarter;
        const float logit =
            add_chunks(dot(mean, load_weights(weights)) + dot(most, load_weights(weights + 32)));
        if (lane == 0) {
            logits[__ldg(actions + CELLS * KINDS + other)] =
                logit + __ldg(numbers + OTHERS_BIAS_AT + other);
        }
    }
    float units[2];
    compute_hidden(units, mean, most, numbers, lane);
#if IS_WDL
    const float win = compute_output(units, numbers, lane, 0);
    const float draw = compute_output(units, numbers, lane, 1);
    const float loss = compute_output(units, numbers, lane, 2);
    const float highest = fmaxf(win, fmaxf(draw, loss));
    const float wins = expf(win - highest), losses = expf(loss - highest);
    if (lane == 0) values[blockIdx.x] = (wins - losses) / (wins + expf(draw - highest) + losses);
#else
#pragma unroll 1
    for (int output = 0; output < OUTPUTS; ++output) {
        const float found = tanhf(compute_output(units, numbers, lane, output));
        if (lane == 0) values[(size_t)blockIdx.x * OUTPUTS + output] = found;
    }
#endif
}
