// The NVRTC calls that app/cuda_api/nvrtc.cpp makes. It compiles two programs only: the source "fine", to the cubin
// "cubin", and the source "no PTX", whose PTX it then refuses.
#include <stdlib.h>
#include <string.h>

struct program {
  int fine, bad_option, no_ptx;
};

int nvrtcVersion(int* major, int* minor) {
  *major = FAKE_MAJOR;
  *minor = FAKE_MINOR;
  return 0;
}
int nvrtcCreateProgram(struct program** program, const char* source, const char* name, int count,
                       const char* const* headers, const char* const* names) {
  (void)name, (void)count, (void)headers, (void)names;
  *program = calloc(1, sizeof **program);
  (*program)->no_ptx = strcmp(source, "no PTX") == 0;
  (*program)->fine = (*program)->no_ptx || strcmp(source, "fine") == 0;
  return 0;
}
int nvrtcDestroyProgram(struct program** program) {
  free(*program);
  *program = NULL;
  return 0;
}
int nvrtcCompileProgram(struct program* program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i)
    if (strcmp(options[i], "--nonsense") == 0) return program->bad_option = 5;  // NVRTC_ERROR_INVALID_OPTION
  return program->fine ? 0 : 6;                                                 // NVRTC_ERROR_COMPILATION
}
static const char* log_of(struct program* program) {
  return program->bad_option ? "unrecognized option --nonsense" : program->fine ? "" : "k.cu(1): error: not fine";
}
int nvrtcGetProgramLogSize(struct program* program, size_t* size) {
  *size = strlen(log_of(program)) + 1;
  return 0;
}
int nvrtcGetProgramLog(struct program* program, char* log) {
  strcpy(log, log_of(program));
  return 0;
}
int nvrtcGetPTXSize(struct program* program, size_t* size) {
  *size = 4;
  return program->no_ptx ? 11 : 0;  // NVRTC_ERROR_INTERNAL_ERROR
}
int nvrtcGetPTX(struct program* program, char* ptx) {
  (void)program;
  memcpy(ptx, "ptx", 4);
  return 0;
}
int nvrtcGetCUBINSize(struct program* program, size_t* size) {
  (void)program;
  *size = 5;
  return 0;
}
int nvrtcGetCUBIN(struct program* program, char* cubin) {
  (void)program;
  memcpy(cubin, "cubin", 5);
  return 0;
}
int nvrtcAddNameExpression(struct program* program, const char* expression) {
  (void)program, (void)expression;
  return 0;
}
int nvrtcGetLoweredName(struct program* program, const char* expression, const char** name) {
  (void)program, (void)expression;
  *name = "lowered";
  return 0;
}
const char* nvrtcGetErrorString(int code) { return code == 5 ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_ERROR"; }
