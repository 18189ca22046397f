float scaled(float x);
