struct Complex {
  double re, im;
  __host__ __device__ Complex(double r, double i) : re(r), im(i) {}
  __host__ __device__ Complex operator*(const Complex& o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
  __host__ __device__ Complex operator+(const Complex& o) const { return {re + o.re, im + o.im}; }
  __host__ __device__ double norm() const { return re * re + im * im; }
};
__global__ void mandelbrot(int* iterations, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const Complex c(-2.0 + 3.0 * x / width, -1.5 + 3.0 * y / height);
  Complex z(0, 0);
  int n = 0;
  while (n < 50 && z.norm() <= 4.0) {
    z = z * z + c;
    ++n;
  }
  iterations[y * width + x] = n;
}
int main() { int height = 24, width = 40; mandelbrot<<<dim3(2, height), 32>>>(nullptr, height, width); }
