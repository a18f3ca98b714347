// A bidirectional GRU layer over a whole sequence, forward and backward.
//
// A row of the batch needs no other row, so a block keeps eight rows of one direction from the first step to
// the last, with the recurrent weights in registers. A warp owns 16 of the H units and multiplies in TF32, as
// cuDNN does; sums, gates and states are single precision. What later steps read is on its way to shared
// memory while earlier ones are computed. H, a multiple of 16, is set by the compiler's -D.
//
// Shapes: gates (time, batch, 2, 3H), out (time, batch, 2H), saved (time, batch, 2, 4H), weight (2, 3H, H),
// bias (2, 4H). The parts of 3H are reset, update and new, as in torch; a fourth is what the recurrent weights
// add to new. A block's rows beyond the batch repeat its last row, so they may write what that row writes.

#define ROWS 8
#define STAGES 4            // steps that are read ahead
#define KEPT (H + 8)        // a row of states in shared memory; the 8 avoids bank conflicts
#define SLOPES (3 * H + 8)  // a row of derivatives
#define READ (3 * H + 4)    // a row of gates
#define PAST (6 * H + 4)    // a row of saved parts, derivatives and states

// x, rounded to the ten bits of a fraction that the tensor cores read
__device__ __forceinline__ float tf32(float x) {
    unsigned bits;
    asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

// the same for a finite x in one instruction: the tensor cores ignore the bits below
__device__ __forceinline__ float quick_tf32(float x) { return __uint_as_float(__float_as_uint(x) + 0x1000u); }

// c (16 units x 8 rows) += a (16 x 8) @ b (8 x 8)
__device__ __forceinline__ void multiply(float c[4], const float a[4], float2 b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b.x)), "r"(__float_as_uint(b.y)));
}

__device__ __forceinline__ float sigmoid(float x) {
    float power, inverse;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-1.442695041f * x));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
    return inverse;
}

// 16 bytes to shared memory, some time before `arrived` says so
__device__ __forceinline__ void send(float* to, const float* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from));
}
__device__ __forceinline__ void close_stage() { asm volatile("cp.async.commit_group;"); }
template <int LATER> __device__ __forceinline__ void arrived() {
    asm volatile("cp.async.wait_group %0;" :: "n"(LATER));
    __syncthreads();
}

// Which of a tile's elements a thread holds: element e is unit `unit(e)` of row `row(e)`.
struct Place {
    int lane = threadIdx.x % 32, group = lane / 4, pair = lane % 4;
    int first = threadIdx.x / 32 * 16, base = blockIdx.x * ROWS, way = blockIdx.y, last;
    __device__ Place(int batch) : last(batch - 1) {}
    __device__ int unit(int e) const { return first + group + 8 * (e / 2); }
    __device__ int local(int e) const { return 2 * pair + e % 2; }
    __device__ int clamped(int local) const { return min(base + local, last); }
    __device__ int row(int e) const { return clamped(local(e)); }
    __device__ bool real(int e) const { return base + local(e) <= last; }
};

extern "C" __global__ void __launch_bounds__(2 * H, 2) gru_forward(
    const float* gates, const float* weight, const float* bias, float* out, float* saved,
    int steps, int batch, int constant)  // constant: the gates of all steps are those of the first
{
    __shared__ __align__(16) float states[2][ROWS * KEPT];
    extern __shared__ __align__(16) float ring[];  // STAGES, ROWS, READ
    const Place at(batch);
    auto read_ahead = [&](int step) {
        if (step < steps && !(constant && step)) {
            const int t = at.way && !constant ? steps - 1 - step : step;
            const float* from = gates + (size_t)t * batch * 6 * H;
            for (int j = 0; j < 3; j++) {
                const int i = threadIdx.x + 2 * H * j, row = i / (3 * H / 4), part = i % (3 * H / 4) * 4;
                send(ring + (step % STAGES * ROWS + row) * READ + part,
                     from + (at.clamped(row) * 2 + at.way) * 3 * H + part);
            }
        }
        close_stage();
    };
    for (int step = 0; step < STAGES; step++) read_ahead(step);
    float a[3][H / 8][4], add[4][2], hidden[4] = {};
    for (int g = 0; g < 3; g++)
        for (int k = 0; k < H / 8; k++)
            for (int i = 0; i < 4; i++) {
                const int unit = g * H + at.first + at.group + 8 * (i % 2), from = 8 * k + 2 * at.pair + i / 2;
                a[g][k][i] = tf32(weight[(at.way * 3 * H + unit) * H + from]);
            }
    for (int g = 0; g < 4; g++)
        for (int i = 0; i < 2; i++) add[g][i] = bias[(at.way * 4 + g) * H + at.unit(2 * i)];
    for (int i = threadIdx.x; i < ROWS * KEPT; i += 2 * H) states[0][i] = 0.0f;
    arrived<STAGES - 1>();
    for (int step = 0; step < steps; step++) {
        const float *before = states[step % 2], *now = ring + (constant ? 0 : step % STAGES) * ROWS * READ;
        float* after = states[1 - step % 2];
        float c[3][4], x[4];
        for (int e = 0; e < 4; e++) {
            const float* row = now + at.local(e) * READ + at.unit(e);
            c[0][e] = row[0] + add[0][e / 2], c[1][e] = row[H] + add[1][e / 2];
            x[e] = row[2 * H] + add[2][e / 2], c[2][e] = add[3][e / 2];
        }
        for (int k = 0; k < H / 8; k++) {
            const float2 b = *(const float2*)&before[at.group * KEPT + 8 * k + 2 * at.pair];
            for (int g = 0; g < 3; g++) multiply(c[g], a[g][k], b);
        }
        const size_t past = (size_t)(at.way ? steps - 1 - step : step) * batch;
        float *states_now = out + past * 2 * H, *saved_now = saved + past * 8 * H;
        for (int e = 0; e < 4; e++) {
            const float reset = sigmoid(c[0][e]), update = sigmoid(c[1][e]), inner = c[2][e];
            const float fresh = 2.0f * sigmoid(2.0f * (x[e] + reset * inner)) - 1.0f;  // tanh
            hidden[e] = fresh + update * (hidden[e] - fresh);
            after[at.local(e) * KEPT + at.unit(e)] = quick_tf32(hidden[e]);
            states_now[at.row(e) * 2 * H + at.way * H + at.unit(e)] = hidden[e];
            float* keep = saved_now + at.row(e) * 8 * H + at.way * 4 * H + at.unit(e);
            keep[0] = reset, keep[H] = update, keep[2 * H] = fresh, keep[3 * H] = inner;
        }
        arrived<STAGES - 2>();
        read_ahead(step + STAGES);
    }
}

// slopes: by the gates; inner: by what the recurrent weights added to them; total (batch, 2, 3H): by the gates,
// of all steps; sums (blocks, 2, 4H): by the bias. Who needs no slopes may give inner in their place.
extern "C" __global__ void __launch_bounds__(2 * H, 2) gru_backward(
    const float* slope_out, const float* out, const float* saved, const float* weight, float* slopes,
    float* inner, float* total, float* sums, int steps, int batch)
{
    __shared__ __align__(16) float shared[2][ROWS * SLOPES];
    extern __shared__ __align__(16) float ring[];  // STAGES, ROWS, PAST
    const Place at(batch);
    auto read_ahead = [&](int step) {  // steps count from the last that was computed
        if (step < steps) {
            const size_t t = at.way ? step : steps - 1 - step, past = at.way ? t + 1 : t - 1;
            const float *from = saved + t * batch * 8 * H;
            float* stage = ring + step % STAGES * ROWS * PAST;
            for (int j = 0; j < 4; j++) {
                const int row = threadIdx.x / H + 2 * j, part = threadIdx.x % H * 4;
                send(stage + row * PAST + part,
                     from + (at.clamped(row) * 2 + at.way) * 4 * H + part);
            }
            const int row = threadIdx.x / (H / 4), part = threadIdx.x % (H / 4) * 4;
            const int column = (2 * at.clamped(row) + at.way) * H + part;
            send(stage + row * PAST + 4 * H + part, slope_out + t * batch * 2 * H + column);
            float* to = stage + row * PAST + 5 * H + part;
            if (step + 1 < steps) send(to, out + past * batch * 2 * H + column);
            else *(float4*)to = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        close_stage();
    };
    for (int step = 0; step < STAGES; step++) read_ahead(step);
    float a[3][H / 8][4], carried[4] = {}, sum[4][4] = {};
    for (int g = 0; g < 3; g++)
        for (int k = 0; k < H / 8; k++)
            for (int i = 0; i < 4; i++) {
                const int unit = at.first + at.group + 8 * (i % 2), from = 8 * k + 2 * at.pair + i / 2;
                a[g][k][i] = tf32(weight[((at.way * 3 + g) * H + from) * H + unit]);
            }
    arrived<STAGES - 1>();
    for (int step = 0; step < steps; step++) {
        const float* now = ring + step % STAGES * ROWS * PAST;
        float* mine = shared[step % 2];
        const size_t start = (size_t)(at.way ? step : steps - 1 - step) * batch * 6 * H;
        float *slopes_now = slopes + start, *inner_now = inner + start, c[3][4] = {};
        for (int e = 0; e < 4; e++) {
            const float* row = now + at.local(e) * PAST + at.unit(e);
            const float reset = row[0], update = row[H], fresh = row[2 * H], h = row[3 * H];
            const float slope = carried[e] + row[4 * H], before = row[5 * H];
            const float dn = slope * (1.0f - update) * (1.0f - fresh * fresh), dh = dn * reset;
            const float dz = slope * (before - fresh) * update * (1.0f - update);
            const float dr = dn * h * reset * (1.0f - reset);
            c[0][e] = slope * update;
            float* put = mine + at.local(e) * SLOPES + at.unit(e);
            put[0] = quick_tf32(dr), put[H] = quick_tf32(dz), put[2 * H] = quick_tf32(dh);
            sum[0][e] += dr, sum[1][e] += dz, sum[2][e] += dn, sum[3][e] += dh;
            const int place = at.row(e) * 6 * H + at.way * 3 * H + at.unit(e);
            slopes_now[place] = dr, slopes_now[place + H] = dz, slopes_now[place + 2 * H] = dn;
            inner_now[place] = dr, inner_now[place + H] = dz, inner_now[place + 2 * H] = dh;
        }
        arrived<STAGES - 2>();
        read_ahead(step + STAGES);
        for (int k = 0; k < H / 8; k++)
            for (int g = 0; g < 3; g++)
                multiply(c[g], a[g][k],
                    *(const float2*)&mine[at.group * SLOPES + g * H + 8 * k + 2 * at.pair]);
        for (int e = 0; e < 4; e++) carried[e] = c[0][e] + c[1][e] + c[2][e];
    }
    for (int e = 0; e < 4; e++)
        for (int g = 0; g < 3; g++)
            total[at.row(e) * 6 * H + (at.way * 3 + g) * H + at.unit(e)] = sum[g][e];
    for (int g = 0; g < 4; g++)
        for (int i = 0; i < 2; i++) {
            float both = at.real(2 * i) * sum[g][2 * i] + at.real(2 * i + 1) * sum[g][2 * i + 1];
            both += __shfl_xor_sync(~0u, both, 1);
            both += __shfl_xor_sync(~0u, both, 2);
            if (!at.pair) sums[((blockIdx.x * 2 + at.way) * 4 + g) * H + at.unit(2 * i)] = both;
        }
}
