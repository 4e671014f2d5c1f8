__global__ void game_of_life(const unsigned char* now, unsigned char* next, int height, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x >= width) return;
  int around = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) around += now[(y + dy + height) % height * width + (x + dx + width) % width];
  next[y * width + x] = around == 3 || (around == 2 && now[y * width + x]);
}
int main() { int height = 20, width = 50; game_of_life<<<height, 64>>>(nullptr, nullptr, height, width); }
