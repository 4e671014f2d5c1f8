// The names of cuBLAS that attnscope takes; none is ever called.
#define CALL(name) \
  int name(void) { return 0; }
CALL(cublasCreate_v2)
CALL(cublasDestroy_v2)
CALL(cublasGetVersion_v2)
CALL(cublasSetStream_v2)
CALL(cublasSetWorkspace_v2)
CALL(cublasGemmStridedBatchedEx)
CALL(cublasGetStatusString)
