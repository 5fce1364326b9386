/* What a C programmer gets from gcc and its vector math library; see c_baseline.py. */
#include <math.h>

void relu_add(float *restrict out, const float *restrict a, const float *restrict b, long n)
{
#pragma omp parallel for simd schedule(static) if (parallel : n > 65536)
    for (long i = 0; i < n; i++) {
        float sum = a[i] + b[i];
        out[i] = sum > 0.0f ? sum : 0.0f;
    }
}

void tanh_sub(float *restrict out, const float *restrict a, const float *restrict b, long n)
{
#pragma omp parallel for simd schedule(static) if (parallel : n > 65536)
    for (long i = 0; i < n; i++)
        out[i] = tanhf(a[i] - b[i]);
}
