// A thread a pair of words; two rows of the table in local memory.
template <int MOST>
__global__ void edit_distance(const unsigned char* a, const unsigned char* b, int* distance, int pairs, int length) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs || length > MOST) return;
  unsigned short row[MOST + 1];
  for (int j = 0; j <= length; ++j) row[j] = j;
  for (int i = 1; i <= length; ++i) {
    unsigned short diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= length; ++j) {
      const unsigned short above = row[j];
      const int replace = diagonal + (a[p * length + i - 1] != b[p * length + j - 1]);
      row[j] = min(replace, min(row[j - 1] + 1, above + 1));
      diagonal = above;
    }
  }
  distance[p] = row[length];
}
int main() { int pairs = 33, length = 15; edit_distance<32><<<(pairs + 31) / 32, 32>>>(nullptr, nullptr, nullptr, pairs, length); }
