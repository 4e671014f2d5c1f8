// A thread a row of 24, by an explicit stack in local memory.
#define LENGTH 24
__global__ void quicksort_stack(int* data, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int a[LENGTH], stack[2 * LENGTH], top = 0;
  for (int i = 0; i < LENGTH; ++i) a[i] = data[r * LENGTH + i];
  stack[top++] = 0, stack[top++] = LENGTH - 1;
  while (top > 0) {
    const int high = stack[--top], low = stack[--top];
    if (low >= high) continue;
    int i = low - 1;
    for (int j = low; j <= high; ++j)
      if (a[j] <= a[high]) {
        ++i;
        const int t = a[i];
        a[i] = a[j], a[j] = t;
      }
    stack[top++] = low, stack[top++] = i - 1;
    stack[top++] = i + 1, stack[top++] = high;
  }
  for (int i = 0; i < LENGTH; ++i) data[r * LENGTH + i] = a[i];
}
int main() { quicksort_stack<<<2, 32>>>(nullptr, 50); }
