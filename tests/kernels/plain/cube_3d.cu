typedef struct {
  int nx, ny, nz;
} Extent;
__global__ void cube_3d(Extent e, const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  const int dx = x + 1 < nx ? 1 : 0, dy = y + 1 < ny ? nx : 0, dz = z + 1 < nz ? nx * ny : 0, at = (z * ny + y) * nx + x;
  out[at] = 0.25f * (in[at] + in[at + dx] + in[at + dy] + in[at + dz]) + float(e.nx - e.ny + e.nz);
}
int main() {
  int nx = 13, ny = 9, nz = 5;
  dim3 block(8, 4, 2), grid((nx + 7) / 8, (ny + 3) / 4, (nz + 1) / 2);
  cube_3d<<<grid, block>>>({nx, ny, nz}, nullptr, nullptr, nx, ny, nz);
}
