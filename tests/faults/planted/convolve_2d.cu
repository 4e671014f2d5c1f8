// A 5 x 5 convolution: a tile with its halo in shared memory, weights in constant memory.
#include <cuda_runtime.h>

#define R 2
#define T 16
#define W (T + 2 * R)

__global__ void convolve_2d(const float* image, const float* weights, float* out, int width, int height) {
  __shared__ float tile[W][W];
  const int x0 = blockIdx.x * T - R, y0 = blockIdx.y * T - R;
  for (int i = threadIdx.y * T + threadIdx.x; i < W * W; i += T * T) {  //@loop
    const int tx = i % W, ty = i / W;
    const int gx = x0 + tx, gy = y0 + ty;
    const bool inside = gx >= 0 && gx < width && gy >= 0 && gy < height;  //@inside
    tile[ty][tx] = inside ? image[gy * width + gx] : 0.0f;  //@load
  }
  __syncthreads();  //@loaded
  const int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  if (x >= width || y >= height) return;  //@guard
  float sum = 0.0f;
  for (int dy = 0; dy < 2 * R + 1; ++dy)
    for (int dx = 0; dx < 2 * R + 1; ++dx)
      sum += tile[threadIdx.y + dy][threadIdx.x + dx] * weights[dy * (2 * R + 1) + dx];  //@read
  out[y * width + x] = sum;  //@store
}

int main() {
  const int width = 90, height = 60;
  float *image, *weights, *out;
  cudaMalloc(&image, width * height * sizeof(float));
  cudaMalloc(&weights, (2 * R + 1) * (2 * R + 1) * sizeof(float));
  cudaMalloc(&out, width * height * sizeof(float));
  dim3 block(T, T), grid((width + T - 1) / T, (height + T - 1) / T);
  convolve_2d<<<grid, block>>>(image, weights, out, width, height);
}
