// Four passes of eight bits over 256 words, ranks by counting.
__global__ void radix_sort(unsigned* data, int rows) {
  __shared__ unsigned from[256], digits[256], count[256];
  unsigned* row = data + 256 * blockIdx.x;
  unsigned key = row[threadIdx.x];
  for (int shift = 0; shift < 32; shift += 8) {
    const unsigned digit = key >> shift & 255u;
    count[threadIdx.x] = 0;
    digits[threadIdx.x] = digit;
    __syncthreads();
    atomicAdd(&count[digit], 1u);
    __syncthreads();
    unsigned rank = 0;
    for (unsigned d = 0; d < digit; ++d) rank += count[d];
    for (unsigned t = 0; t < threadIdx.x; ++t) rank += digits[t] == digit;
    from[rank] = key;
    __syncthreads();
    key = from[threadIdx.x];
    __syncthreads();
  }
  row[threadIdx.x] = key;
}
int main() { radix_sort<<<2, 256>>>(nullptr, 2); }
