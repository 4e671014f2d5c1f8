__global__ void reverse_rows(const short* in, short* out, int rows, int length) {
  extern __shared__ short row[];
  for (int i = threadIdx.x; i < length; i += blockDim.x) row[i] = in[blockIdx.x * length + i];
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x) out[blockIdx.x * length + i] = row[length - 1 - i];
}
__global__ void dynamic_shared(const int* in, int* out, int rows, int length) {
  extern __shared__ int ints[];
  for (int i = threadIdx.x; i < length; i += blockDim.x) ints[i] = in[blockIdx.x * length + i];
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x) out[blockIdx.x * length + i] = ints[length - 1 - i];
}
int main() {
  const int rows = 7, length = 90;
  dynamic_shared<<<rows, 64, length * sizeof(int)>>>(nullptr, nullptr, rows, length);
}
