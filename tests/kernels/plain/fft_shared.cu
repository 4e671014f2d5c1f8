#define PI 3.14159265358979f
__global__ void fft_shared(const float2* in, float2* out, int rows) {
  __shared__ float2 s[64];
  const int t = threadIdx.x;
  for (int i = t; i < 64; i += 32) s[__brev(i) >> 26] = in[blockIdx.x * 64 + i];
  for (int half = 1; half < 64; half *= 2) {
    __syncthreads();
    const int k = t % half, at = (t / half) * 2 * half + k;
    float sine, cosine;
    sincosf(-PI * k / half, &sine, &cosine);
    const float2 a = s[at], b = s[at + half];
    const float2 w = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    s[at] = make_float2(a.x + w.x, a.y + w.y);
    s[at + half] = make_float2(a.x - w.x, a.y - w.y);
  }
  __syncthreads();
  for (int i = t; i < 64; i += 32) out[blockIdx.x * 64 + i] = s[i];
}
int main() { fft_shared<<<5, 32>>>(nullptr, nullptr, 5); }
